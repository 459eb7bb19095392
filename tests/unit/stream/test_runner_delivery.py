"""The good path, duplicates, order, claims and the fence."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID

from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.events import Event, encode
from eunoe_contracts.stages import ClaimOutcome, StageState
from eunoe_telemetry.testing import eventually


async def test_outputs_ledger_and_wake_up_then_the_commit(bench: Any) -> None:
    await bench.start()
    await bench.accept("a", "b")
    await bench.committed()
    assert len(bench.log.records(topics.DOCUMENT_EXTRACTED)) == 2
    finished = [events_pb2.StageFinished.FromString(each.value) for each in bench.log.records(topics.STAGE_FINISHED)]
    assert {(each.document_id, each.generation, each.stage) for each in finished} == {
        (str(bench.document(name)), 1, "extract") for name in ("a", "b")
    }
    assert bench.state("a") is StageState.FINISHED
    assert bench.counted("ok") == 2


async def test_an_event_delivered_five_times_has_one_effect(bench: Any) -> None:
    gate = bench.hold("a")
    await bench.start()
    await bench.start(instance="two")
    # Also on a retry topic, where the partition's key order does not help.
    await bench.accept("a", "a", "a", "a")
    await bench.log.publish([replace(bench.record("a"), topic=f"{bench.topic}.{bench.group}.retry.1s")])
    await bench.settle()
    gate.set()
    await bench.committed()
    assert bench.handled == [bench.document("a")]
    await eventually(lambda: bench.counted("duplicate") + bench.counted("busy") >= 4, meanwhile=lambda: bench.clock.advance(0.5))
    assert bench.handled == [bench.document("a")]


async def test_a_finished_stage_is_not_run_again_but_wakes_the_gateway_again(bench: Any) -> None:
    await bench.start()
    await bench.accept("a")
    await bench.committed()
    await bench.accept("a")
    await bench.committed()
    assert len(bench.handled) == 1
    assert len(bench.log.records(topics.DOCUMENT_EXTRACTED)) == 1
    assert len(bench.log.records(topics.STAGE_FINISHED)) == 2
    assert bench.counted("duplicate") == 1


async def test_keys_keep_their_order_and_do_not_wait_for_each_other(bench: Any) -> None:
    order: list[str] = []
    gate = asyncio.Event()

    async def handler(event: Event) -> list[Event]:
        if event.key == "t/slow" and not order:
            await gate.wait()
        order.append(f"{event.key}-{event.body.memory_id}")  # type: ignore[union-attr]  # the test sends this type only
        return []

    await bench.start(topic=topics.MEMORY_CHANGED, handler=handler, stage=None, undo=None)
    bench.topic = topics.MEMORY_CHANGED
    await bench.log.publish([_changed("slow", n) for n in range(3)] + [_changed("quick", n) for n in range(3)])
    await eventually(lambda: len(order) == 3)
    gate.set()
    await bench.committed()
    assert order == ["t/quick-0", "t/quick-1", "t/quick-2", "t/slow-0", "t/slow-1", "t/slow-2"]


def _changed(container: str, number: int) -> Any:
    body = events_pb2.MemoryChanged(tenant="t", container=container, memory_id=str(number))
    return encode(Event(UUID(int=number), topics.MEMORY_CHANGED, f"t/{container}", "t", body))


async def test_no_more_keys_in_flight_than_asked_and_a_bounded_backlog(bench: Any) -> None:
    names = [f"d{n}" for n in range(400)]
    gates = [bench.hold(each) for each in names]
    runner = await bench.start(concurrency=4)
    await bench.accept(*names)
    await bench.settle()
    assert len(bench.started) == 4
    assert runner.health()[bench.group].in_flight == 4
    for each in gates:
        each.set()
    await bench.committed()
    assert len(bench.handled) == 400


async def test_a_crash_before_the_commit_repeats_nothing_that_is_finished(bench: Any) -> None:
    gate = bench.hold("b")
    first = NeverCommits(bench.log)
    await bench.start(log=first)
    await bench.accept("a", "b", "c")
    await eventually(lambda: bench.counted("ok") == 2, meanwhile=lambda: bench.clock.advance(0.01))
    first.is_gone = True
    bench.clock.advance(31)  # leases and claims ran out
    await bench.log.release_leases()
    await bench.start(instance="two")
    gate.set()
    await bench.committed()
    assert bench.counted("duplicate") >= 2
    assert bench.handled.count(bench.document("a")) == 1
    assert {bench.state(each) for each in "abc"} == {StageState.FINISHED}


class NeverCommits:
    """A process that dies before its first commit; from then on it fetches nothing."""

    def __init__(self, log: Any) -> None:
        self._log = log
        self.is_gone = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    async def consumer(self, group: str, names: Any) -> Any:
        consumer = await self._log.consumer(group, names)

        async def commit(offsets: Any) -> None:
            return None

        fetch = consumer.fetch

        async def fetch_while_alive(limit: int, wait_s: float) -> Any:
            if self.is_gone:
                await asyncio.Event().wait()
            return await fetch(limit, wait_s)

        consumer.commit, consumer.fetch = commit, fetch_while_alive
        return consumer


async def test_a_long_handler_keeps_its_claim(bench: Any) -> None:
    gate = bench.hold("a")
    await bench.start()
    await bench.accept("a")
    await eventually(lambda: bool(bench.started))
    for _ in range(20):
        bench.clock.advance(10)
        await bench.settle()
    outcome = await bench.ledger.claim("t", bench.key("a"), owner="thief", lease_s=30, now=bench.clock.now())
    assert outcome is ClaimOutcome.BUSY
    gate.set()
    await bench.committed()
    assert bench.handled == [bench.document("a")]


async def test_who_lost_the_claim_stops_and_looks_again_later(bench: Any) -> None:
    bench.hold("a")
    await bench.start()
    await bench.accept("a")
    await eventually(lambda: bool(bench.started))
    bench.ledger.reopen("t", bench.key("a"))
    await bench.ledger.claim("t", bench.key("a"), owner="thief", lease_s=300, now=bench.clock.now())
    await eventually(lambda: bool(bench.retries(1)), meanwhile=lambda: bench.clock.advance(1))
    assert bench.retries(1)[0].headers["eunoe-attempt"] == "0"
    assert bench.handled == []
    await bench.committed()


async def test_work_held_elsewhere_comes_back_without_counting_an_attempt(bench: Any) -> None:
    await bench.ledger.claim("t", bench.key("a"), owner="other", lease_s=5, now=bench.clock.now())
    await bench.start()
    await bench.accept("a")
    await eventually(lambda: bool(bench.handled), meanwhile=lambda: bench.clock.advance(0.5))
    assert bench.counted("busy") >= 1
    assert all(each.headers["eunoe-attempt"] == "0" for each in bench.retries(1))
    assert bench.retries(10) == []


async def test_the_fence_falls_while_the_handler_works(bench: Any) -> None:
    gate = bench.hold("a")
    await bench.start()
    await bench.accept("a")
    await eventually(lambda: bool(bench.started))
    bench.ledger.fence("t", bench.document("a"), through_generation=1)
    gate.set()
    await bench.committed()
    assert bench.undone == [bench.document("a")]
    assert bench.log.records(topics.DOCUMENT_EXTRACTED) == []
    assert bench.log.records(topics.STAGE_FINISHED) == []
    assert bench.counted("fenced") == 1


async def test_an_undo_that_fails_is_repeated_before_the_commit(bench: Any) -> None:
    gate = bench.hold("a")
    tries: list[int] = []

    async def undo(_: Event) -> None:
        tries.append(1)
        if len(tries) < 3:
            raise StoreUnavailable

    await bench.start(undo=undo)
    await bench.accept("a")
    await eventually(lambda: bool(bench.started))
    bench.ledger.fence("t", bench.document("a"), through_generation=1)
    gate.set()
    await bench.settle()
    assert await bench.log.lag(bench.topic, bench.group) == 1
    await bench.committed()
    assert len(tries) == 3


async def test_a_handler_that_fails_because_its_document_went_is_no_dead_letter(bench: Any) -> None:
    gate = bench.hold("a")
    bench.fail("a", KeyError("gone"), times=1)
    await bench.start(max_attempts=1)
    await bench.accept("a")
    await eventually(lambda: bool(bench.started))
    bench.ledger.fence("t", bench.document("a"), through_generation=1)
    gate.set()
    await bench.committed()
    assert bench.dead() == []
    assert bench.undone == [bench.document("a")]


async def test_a_fenced_record_is_dropped(bench: Any) -> None:
    bench.ledger.fence("t", bench.document("a"), through_generation=1)
    await bench.start()
    await bench.accept("a")
    await bench.committed()
    assert bench.started == []
    assert bench.counted("fenced") == 1


async def test_a_handler_without_a_stage_needs_no_ledger(bench: Any) -> None:
    await bench.start(stage=None, undo=None)
    await bench.accept("a", "b")
    await bench.committed()
    assert bench.ledger.calls == {}
    assert bench.counted("ok", stage=bench.group) == 2
    assert bench.log.records(topics.STAGE_FINISHED) == []

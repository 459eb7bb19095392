"""Drain, stop, rebalance, and a log that fails for a while."""

from __future__ import annotations

import asyncio
from typing import Any

from eunoe_contracts import topics
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.stages import StageState
from eunoe_stream.testing import MemoryLog
from eunoe_telemetry.testing import eventually


async def test_drain_finishes_what_runs_and_commits_it(bench: Any) -> None:
    gate = bench.hold("a")
    runner = await bench.start(concurrency=1)
    await bench.accept("a", "b")
    await eventually(lambda: bool(bench.started))
    draining = asyncio.create_task(runner.drain(10))
    await bench.settle()
    gate.set()
    await draining
    assert bench.handled == [bench.document("a")]
    assert await bench.log.lag(bench.topic, bench.group) == 1
    await runner.drain(0)
    await runner.stop()


async def test_drain_gives_up_after_its_time_and_releases_the_claim(bench: Any) -> None:
    bench.hold("a")
    runner = await bench.start()
    await bench.accept("a", "b")
    await eventually(lambda: bool(bench.handled))
    await runner.drain(0.01)
    assert bench.state("a") is StageState.WAITING
    assert bench.ledger.releases == [(bench.key("a"), None)]
    assert await bench.log.lag(bench.topic, bench.group) == 2, "the offset of `a` holds the one of `b`"
    bench.gates.clear()
    await bench.start(instance="two")
    await bench.committed()
    assert bench.handled == [bench.document("b"), bench.document("a")]


async def test_stop_while_the_log_is_down_still_ends(bench: Any) -> None:
    runner = await bench.start()
    bench.ledger.fail("claim", StoreUnavailable(), times=1000)
    await bench.accept("a")
    await bench.settle()
    await runner.stop()
    assert await bench.log.lag(bench.topic, bench.group) == 1


async def test_a_second_process_takes_over_half_without_doing_anything_twice(bench: Any) -> None:
    bench.log = MemoryLog(clock=bench.clock, ids=bench.ids, partitions=4)
    names = [f"d{n}" for n in range(40)]
    gates = [bench.hold(each) for each in names[:20]]
    await bench.start()
    await bench.accept(*names[:20])
    await eventually(lambda: len(bench.started) == 20)
    await bench.start(instance="two")
    await bench.settle()
    await bench.accept(*names[20:])
    for each in gates:
        each.set()
    await bench.committed()
    assert len(bench.handled) == 40
    assert len(set(bench.handled)) == 40
    assert bench.counted("duplicate") == 0


async def test_a_fetch_and_a_commit_that_fail_are_repeated(bench: Any) -> None:
    log = Hiccups(bench.log)
    runner = await bench.start(log=log)
    await bench.accept("a")
    await eventually(lambda: log.fetches == 0, meanwhile=lambda: bench.clock.advance(0.5))
    await eventually(lambda: log.commits == 0, meanwhile=lambda: bench.clock.advance(0.5))
    await bench.committed()
    assert runner.health()[bench.group].reason == ""
    assert len(bench.handled) == 1


class Hiccups:
    """A log whose first fetches and commits fail."""

    def __init__(self, log: Any) -> None:
        self._log = log
        self.fetches = 2
        self.commits = 2

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    async def consumer(self, group: str, names: Any) -> Any:
        consumer = await self._log.consumer(group, names)
        fetch, commit = consumer.fetch, consumer.commit

        async def failing_fetch(limit: int, wait_s: float) -> Any:
            if self.fetches:
                self.fetches -= 1
                raise StoreUnavailable
            return await fetch(limit, wait_s)

        async def failing_commit(offsets: Any) -> None:
            if self.commits:
                self.commits -= 1
                raise StoreUnavailable
            await commit(offsets)

        consumer.fetch, consumer.commit = failing_fetch, failing_commit
        return consumer


async def test_health_shows_lag_and_the_age_of_the_last_progress(bench: Any) -> None:
    gate = bench.hold("a")
    runner = await bench.start()
    await bench.accept("a")
    await eventually(lambda: bool(bench.started))
    bench.clock.advance(60)
    await eventually(lambda: runner.health()[bench.group].lag == 1, meanwhile=lambda: bench.clock.advance(5))
    health = runner.health()[bench.group]
    assert (health.paused, health.in_flight, health.reason) == (False, 1, "")
    assert health.last_progress_age_s >= 60
    labels = {"group": bench.group, "topic": bench.topic}
    assert bench.metrics.registry.get_sample_value("eunoe_stage_lag", labels) == 1

    def oldest_age_s() -> float:
        return bench.metrics.registry.get_sample_value("eunoe_stage_oldest_age_seconds", labels) or 0.0

    await eventually(lambda: oldest_age_s() >= 60, meanwhile=lambda: bench.clock.advance(5))
    gate.set()
    await bench.committed()
    await eventually(lambda: runner.health()[bench.group].lag == 0, meanwhile=lambda: bench.clock.advance(5))
    assert runner.health()[bench.group].last_progress_age_s < 60
    await eventually(lambda: oldest_age_s() == 0, meanwhile=lambda: bench.clock.advance(5))


async def test_many_finished_handlers_publish_together(bench: Any) -> None:
    publishes: list[int] = []
    publish = bench.log.publish

    async def slow_publish(records: Any) -> None:
        publishes.append(len(records))
        await asyncio.sleep(0)
        await publish(records)

    bench.log.publish = slow_publish
    await bench.start()
    await bench.accept(*[f"d{n}" for n in range(200)])
    await bench.committed()
    assert len(bench.log.records(topics.STAGE_FINISHED)) == 200
    assert len(publishes) < 100

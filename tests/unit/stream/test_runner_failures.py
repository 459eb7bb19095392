"""Retries, dead letters, poison, and what happens when these cannot be written."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from eunoe_contracts import topics
from eunoe_contracts.errors import (
    CorruptDocument,
    DeadlineExceeded,
    EunoeError,
    InternalError,
    StorageFull,
    StoreUnavailable,
    WorkContinues,
)
from eunoe_contracts.events import Event, Record
from eunoe_contracts.stages import StageState
from eunoe_stream.runner.failures import Verdict, decide
from eunoe_telemetry.testing import eventually


@pytest.mark.parametrize(
    ("error", "attempts", "hours", "verdict"),
    [
        (StoreUnavailable(), 1, 0, Verdict.RETRY),
        (StoreUnavailable(), 4, 7, Verdict.RETRY),
        (StoreUnavailable(), 40, 5.9, Verdict.RETRY),
        (StoreUnavailable(), 5, 6, Verdict.DEAD),
        (InternalError(), 4, 7, Verdict.RETRY),
        (InternalError(), 5, 0, Verdict.DEAD),
        (DeadlineExceeded(), 5, 0, Verdict.DEAD),
        (WorkContinues(), 40, 71.9, Verdict.GO_ON),
        (WorkContinues(), 5, 72, Verdict.DEAD),
        (CorruptDocument(), 1, 0, Verdict.DEAD),
    ],
)
def test_the_type_of_the_error_decides(error: EunoeError, attempts: int, hours: float, verdict: Verdict) -> None:
    assert decide(error, attempts=attempts, max_attempts=5, failing=timedelta(hours=hours)) is verdict


async def test_an_outage_longer_than_all_retries_loses_nothing(bench: Any) -> None:
    bench.fail("a", StoreUnavailable(), times=12)
    await bench.start()
    await bench.accept("a")
    await eventually(lambda: bench.document("a") in bench.handled, meanwhile=lambda: bench.clock.advance(60))
    assert bench.dead() == []
    assert bench.state("a") is StageState.FINISHED


async def test_a_retry_waits_on_its_topic_and_blocks_nobody(bench: Any) -> None:
    bench.fail("flaky", StoreUnavailable())
    await bench.start()
    await bench.accept("flaky", "next", "after")
    await eventually(lambda: len(bench.handled) == 2 and bool(bench.retries(1)))
    assert bench.document("flaky") not in bench.handled
    [retry] = bench.retries(1)
    assert retry.headers["eunoe-attempt"] == "1"
    assert retry.headers["eunoe-origin"] == f"{bench.topic}/0/0"
    assert datetime.fromisoformat(retry.headers["eunoe-not-before"]) == bench.clock.now() + timedelta(seconds=1)
    assert datetime.fromisoformat(retry.headers["eunoe-first-failed-at"]) == bench.clock.now()
    bench.clock.advance(0.9)
    await bench.settle()
    assert len(bench.handled) == 2, "it is not due yet"
    assert bench.state("flaky") is StageState.WAITING
    bench.clock.advance(0.2)
    await eventually(lambda: bench.document("flaky") in bench.handled)
    assert bench.counted("retry") == 1


async def test_a_record_that_waits_ten_minutes_does_not_hold_the_main_partition(bench: Any) -> None:
    bench.fail("late", StoreUnavailable(), times=4)
    await bench.start()
    await bench.accept("late")
    await eventually(lambda: bool(bench.retries(600)), meanwhile=lambda: bench.clock.advance(5))
    await bench.accept(*[f"d{n}" for n in range(50)])
    await bench.committed()
    assert len(bench.handled) == 50
    await eventually(lambda: bench.document("late") in bench.handled, meanwhile=lambda: bench.clock.advance(60))


async def test_after_the_last_attempt_a_dead_letter(bench: Any) -> None:
    bench.fail("a", InternalError(), times=99)
    await bench.start(max_attempts=3)
    await bench.accept("a")
    await eventually(lambda: bench.counted("dead") == 1, meanwhile=lambda: bench.clock.advance(1))
    assert bench.state("a") is StageState.EXHAUSTED
    assert bench.started == [bench.document("a")] * 3
    [dead] = bench.dead()
    assert dead.headers["eunoe-error-code"] == "internal_error"
    assert dead.headers["eunoe-attempt"] == "3"
    assert dead.headers["eunoe-origin"] == f"{bench.topic}/0/0"
    assert "eunoe-not-before" not in dead.headers
    assert dead.value == bench.record("a").value
    [(_, failure)] = bench.ledger.dead_letters
    assert (failure.code, failure.attempts, failure.topic) == ("internal_error", 3, bench.topic)
    assert failure.first_failed_at < failure.failed_at
    assert len(bench.log.records(topics.STAGE_FINISHED)) == 1
    assert bench.metrics.registry.get_sample_value("eunoe_dead_letters_total", {"stage": "extract", "code": "internal_error"}) == 1


async def test_a_permanent_error_is_a_dead_letter_at_once(bench: Any) -> None:
    bench.fail("bad", CorruptDocument())
    await bench.start()
    await bench.accept("bad", "good")
    await bench.committed()
    assert bench.handled == [bench.document("good")]
    assert len(bench.dead()) == 1
    assert bench.retries(1) == []


async def test_the_message_of_an_unexpected_error_never_leaves_the_handler(bench: Any) -> None:
    bench.fail("a", ValueError("secret text of the document"))
    await bench.start(max_attempts=1)
    await bench.accept("a")
    await bench.committed()
    [(_, failure)] = bench.ledger.dead_letters
    assert failure.code == "internal_error"
    assert "secret" not in failure.message


async def test_a_handler_past_its_deadline_is_stopped_and_tried_again(bench: Any) -> None:
    bench.hold("a")
    await bench.start(deadline_s=0.01)
    await bench.accept("a")
    await eventually(lambda: bool(bench.retries(1)))
    [(_, failure)] = bench.ledger.releases
    assert failure is not None
    assert failure.code == "deadline_exceeded"


async def test_a_handler_that_is_stopped_while_its_work_went_forward_goes_on_without_a_failed_attempt(bench: Any) -> None:
    count = iter(range(1_000_000))
    gate = bench.hold("a")
    await bench.start(deadline_s=0.01, max_attempts=2, advance=lambda: next(count))
    await bench.accept("a")

    await eventually(lambda: len(bench.started) >= 5, meanwhile=lambda: bench.clock.advance(0.5))
    gate.set()
    await eventually(lambda: bench.handled == [bench.document("a")], meanwhile=lambda: bench.clock.advance(0.5))
    assert bench.dead() == []
    assert all(failure is None for _, failure in bench.ledger.releases)


async def test_a_handler_whose_work_stands_still_fails_at_its_deadline(bench: Any) -> None:
    bench.hold("a")
    await bench.start(deadline_s=0.01, max_attempts=1, advance=lambda: 7)
    await bench.accept("a")
    await eventually(lambda: bool(bench.dead()))
    assert [failure.code for _, failure in bench.ledger.dead_letters] == ["deadline_exceeded"]


async def test_a_cancellation_inside_the_handler_is_an_error_like_others(bench: Any) -> None:
    bench.fail("a", asyncio.CancelledError())
    await bench.start()
    await bench.accept("a")
    await eventually(lambda: bool(bench.retries(1)))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"value": b"\xff\xff\xff"}, "malformed_event"),
        ({"headers": {}}, "malformed_event"),
        ({"headers": {"eunoe-schema-version": "99", "eunoe-tenant": "t"}}, "unknown_event_version"),
        ({"headers": {"eunoe-schema-version": "1", "eunoe-tenant": "other"}}, "malformed_event"),
    ],
)
async def test_poison_first_in_the_partition_is_set_aside(bench: Any, change: dict[str, Any], code: str) -> None:
    await bench.start()
    await bench.log.publish([replace(bench.record("a"), **change)])
    await bench.accept("b")
    await bench.committed()
    assert bench.handled == [bench.document("b")]
    [dead] = bench.dead()
    assert dead.headers["eunoe-error-code"] == code
    [(_, group, failure, _, _)] = bench.ledger.poison
    assert (group, failure.code) == (bench.group, code)
    assert bench.counted("poison") == 1


async def test_records_without_an_id_have_dead_letters_of_their_own_and_the_same_ones_when_they_come_again(bench: Any) -> None:
    await bench.log.publish([replace(bench.record("a"), headers={}) for _ in range(3)])
    for times in (1, 2):
        consumer = bench.group if times == 1 else "again"
        await bench.start(group=consumer)
        await eventually(lambda times=times: bench.counted("poison") == 3 * times)
    ids = [event_id for _, group, _, event_id, _ in bench.ledger.poison if group == bench.group]
    assert len(set(ids)) == 3
    assert {event_id for _, _, _, event_id, _ in bench.ledger.poison} == set(ids)


async def test_a_stage_needs_an_event_with_a_document(bench: Any) -> None:
    await bench.start(topic=topics.DOCUMENT_EXTRACTED)
    record = bench.record("a")
    await bench.log.publish([Record(topics.DOCUMENT_EXTRACTED, "t/x", b"\x0a\x01t", record.headers)])
    await eventually(lambda: bench.counted("poison") == 1)


async def test_a_handler_without_a_stage_leaves_its_dead_letter_in_the_ledger_too(bench: Any) -> None:
    bench.fail("a", CorruptDocument())
    await bench.start(stage=None, undo=None)
    await bench.accept("a")
    await bench.committed()
    [(tenant, group, failure, event_id, document)] = bench.ledger.poison
    assert (tenant, group, failure.code, document) == ("t", bench.group, "corrupt_document", bench.document("a"))
    assert event_id == str(bench.event("a").id)
    assert len(bench.dead()) == 1


class BrokenTopics:
    """A log on which publishing to some topics fails for a while."""

    def __init__(self, log: Any, part: str) -> None:
        self._log = log
        self._part = part
        self.broken = True
        self.refused = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    async def publish(self, records: Any) -> None:
        if self.broken and any(self._part in each.topic for each in records):
            self.refused += 1
            raise StorageFull
        await self._log.publish(records)


@pytest.mark.parametrize(("part", "error"), [(".dead", CorruptDocument()), (".retry.", StoreUnavailable()), ("extracted", None)])
async def test_what_cannot_be_published_is_not_committed(bench: Any, part: str, error: Exception | None) -> None:
    log = BrokenTopics(bench.log, part)
    if error is not None:
        bench.fail("a", error)
    runner = await bench.start(log=log)
    await bench.accept("a")
    await eventually(lambda: log.refused >= 3, meanwhile=lambda: bench.clock.advance(0.5))
    assert await bench.log.lag(bench.topic, bench.group) == 1
    assert runner.health()[bench.group].reason == "storage_full"
    assert len(bench.started) == 1, "the handler is not run again for it"
    log.broken = False
    await bench.committed()
    assert runner.health()[bench.group].reason == ""
    assert len(bench.retries(1)) == (1 if part == ".retry." else 0)
    assert len(bench.dead()) == (1 if part == ".dead" else 0)


async def test_a_dead_letter_that_a_crash_prevents_is_published_by_the_next_delivery(bench: Any) -> None:
    """The ledger may not say that it is dead before the record is on the dead topic."""
    log = BrokenTopics(bench.log, ".dead")
    bench.fail("a", CorruptDocument(), times=2)
    runner = await bench.start(log=log)
    await bench.accept("a")
    await eventually(lambda: log.refused >= 1)
    await runner.stop()
    await bench.start(instance="two")
    await bench.committed()
    assert len(bench.dead()) == 1
    assert bench.state("a") is StageState.EXHAUSTED


@pytest.mark.parametrize("name", ["claim", "may_write", "finish"])
async def test_a_ledger_that_does_not_answer_costs_no_attempt(bench: Any, name: str) -> None:
    bench.ledger.fail(name, StoreUnavailable(), times=4)
    await bench.start(max_attempts=2)
    await bench.accept("a")
    await bench.committed()
    assert bench.handled == [bench.document("a")]
    assert bench.counted("ok") == 1
    assert bench.counted("retry") == 0


@pytest.mark.parametrize("name", ["release", "exhaust"])
async def test_a_ledger_that_does_not_answer_after_a_failure_holds_the_commit(bench: Any, name: str) -> None:
    bench.fail("a", StoreUnavailable() if name == "release" else CorruptDocument())
    bench.ledger.fail(name, RuntimeError("connection lost"), times=3)
    await bench.start()
    await bench.accept("a")
    await bench.settle()
    assert await bench.log.lag(bench.topic, bench.group) == 1
    await bench.committed()
    assert bench.ledger.calls[name] == 4
    assert len(bench.dead()) == (1 if name == "exhaust" else 0)


async def test_a_clock_set_back_delays_a_retry_by_no_more_than_its_own_delay(bench: Any) -> None:
    bench.fail("a", StoreUnavailable())
    await bench.start()
    await bench.accept("a")
    await eventually(lambda: bool(bench.retries(1)))
    await bench.settle()
    bench.clock.jump(-30 * 24 * 3600)
    jumped = bench.clock.monotonic()
    await eventually(lambda: bench.document("a") in bench.handled, meanwhile=lambda: bench.clock.advance(0.01))
    assert bench.clock.monotonic() - jumped < 2
    # Read after the jump: due in a month by the header.
    far = (bench.clock.now() + timedelta(days=30)).isoformat()
    await bench.log.publish([replace(bench.record("b", **{"eunoe-not-before": far}), topic=f"{bench.topic}.{bench.group}.retry.1s")])
    published = bench.clock.monotonic()
    await eventually(lambda: bench.document("b") in bench.handled, meanwhile=lambda: bench.clock.advance(0.01))
    assert bench.clock.monotonic() - published < 2


async def test_a_clock_set_back_makes_no_failure_later_than_its_last(bench: Any) -> None:
    bench.fail("a", StoreUnavailable())
    bench.fail("a", CorruptDocument())
    await bench.start()
    await bench.accept("a")
    await eventually(lambda: bool(bench.retries(1)))
    bench.clock.jump(-3600)
    await eventually(lambda: bool(bench.ledger.dead_letters), meanwhile=lambda: bench.clock.advance(1))
    [(_, failure)] = bench.ledger.dead_letters
    assert failure.first_failed_at <= failure.failed_at


async def test_headers_that_are_no_times_or_numbers_are_read_as_due_and_first(bench: Any) -> None:
    await bench.start()
    headers = {"eunoe-not-before": "soon", "eunoe-attempt": "many", "eunoe-first-failed-at": "2026-01-01"}
    bench.fail("a", CorruptDocument())
    await bench.log.publish([bench.record("a", **headers)])
    await bench.committed()
    [(_, failure)] = bench.ledger.dead_letters
    assert failure.attempts == 1


async def test_no_error_type_of_the_handler_stops_the_runner(bench: Any) -> None:
    async def handler(_: Event) -> Any:
        return [object()]

    await bench.start(handler=handler, max_attempts=1)
    await bench.accept("a", "b")
    await bench.committed()
    assert len(bench.dead()) == 2

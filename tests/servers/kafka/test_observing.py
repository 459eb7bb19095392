"""Lag, age, pending keys and the watchdog, as an operator and the sweeper see them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from eunoe_contracts.events import Record
from eunoe_stream.kafka import Watchdog
from eunoe_stream.log import TopicPartition
from eunoe_telemetry.clock import SystemClock
from eunoe_telemetry.testing import eventually

pytestmark = pytest.mark.servers

EVENTUALLY_S = 20.0


async def take(log: Any, consumer: Any, count: int) -> list[Any]:
    found: list[Any] = []
    await eventually(lambda: consumer.waiting >= count, timeout_s=EVENTUALLY_S)
    while batch := await consumer.fetch(100, 0):
        found += batch
    return found


async def test_the_oldest_record_that_was_not_committed(bench: Any) -> None:
    log = await bench.open()
    assert await log.oldest(bench.topic, "g") is None
    before = datetime.now(UTC) - timedelta(seconds=1)
    await log.publish([Record(bench.topic, f"k{n}", b"early") for n in range(20)])
    between = datetime.now(UTC)
    await log.publish([Record(bench.topic, f"k{n}", b"late") for n in range(20)])
    oldest = await log.oldest(bench.topic, "g")
    assert before < oldest <= between
    consumer = await log.consumer("g", [bench.topic])
    found = await take(log, consumer, 40)
    await consumer.commit({each.source: each.offset for each in reversed(found) if each.record.value == b"late"})
    assert await log.oldest(bench.topic, "g") > between - timedelta(milliseconds=1)  # the broker's times are whole milliseconds
    await consumer.commit({each.source: each.offset + 1 for each in found})
    assert await log.oldest(bench.topic, "g") is None
    assert await log.lag(bench.topic, "g") == 0


async def test_pending_keys_are_found_without_reading_a_record_twice(bench: Any) -> None:
    log = await bench.open()
    await log.publish([Record(bench.topic, f"k{n}", b"") for n in range(300)])
    assert await log.has_pending(bench.topic, "g", "k7")
    assert not await log.has_pending(bench.topic, "g", "absent")
    read = 0
    getmany = log._observer._reader.getmany

    async def counted(**arguments: Any) -> Any:
        nonlocal read
        found = await getmany(**arguments)
        read += sum(map(len, found.values()))
        return found

    log._observer._reader.getmany = counted
    for n in range(300):
        assert await log.has_pending(bench.topic, "g", f"k{n}")
    assert read <= 300, "each partition is read once"
    read = 0
    await log.publish([Record(bench.topic, "absent", b"")])
    assert await log.has_pending(bench.topic, "g", "absent")
    assert read <= 1
    consumer = await log.consumer("g", [bench.topic])
    found = await take(log, consumer, 301)
    await consumer.commit({each.source: each.offset + 1 for each in found})
    assert not await log.has_pending(bench.topic, "g", "k7")


async def test_the_watchdog_sees_a_poll_loop_that_ended(bench: Any) -> None:
    log = await bench.open()
    watchdog = Watchdog(log, clock=SystemClock(), stall_s=60)
    consumer = await log.consumer("g", [bench.topic])
    assert await watchdog.ask() == ""
    # What a cancelled child task does to FastStream's loop: it ends without a sign, and the member stays in the group.
    for each in log._members[consumer].tasks:
        each.cancel()
    await eventually(lambda: log.has_ended(consumer), timeout_s=EVENTUALLY_S)
    assert "the loop that reads" in await watchdog.ask()
    assert consumer.owned


async def test_the_watchdog_sees_records_that_do_not_arrive_or_are_not_taken(bench: Any) -> None:
    log = await bench.open()
    watchdog = Watchdog(log, clock=SystemClock(), stall_s=0.3)
    consumer = await log.consumer("g", [bench.topic])
    await consumer.fetch(1, 0.5)
    assert await watchdog.ask() == "", "there is nothing to read"
    consumer.pause(frozenset(TopicPartition(bench.topic, n) for n in range(4)))
    await log.publish([bench.record(n) for n in range(20)])
    await consumer.fetch(1, 0.5)
    assert await watchdog.ask() == "", "the runner does not want them now"
    consumer.resume(frozenset(TopicPartition(bench.topic, n) for n in range(4)))
    await eventually(lambda: consumer.waiting > 0, timeout_s=EVENTUALLY_S)

    async def told(words: str) -> bool:
        return words in await watchdog.ask()

    await eventually(lambda: told("nobody took the records"), timeout_s=EVENTUALLY_S)
    await take(log, consumer, 20)
    assert await watchdog.ask() == ""
    # A client that is stuck: in the group, and nothing comes.
    consumer._room.clear()
    await consumer.fetch(1, 0.5)  # the poll that is under way ends
    await log.publish([bench.record(n) for n in range(20)])

    async def stuck() -> bool:
        await consumer.fetch(1, 0)
        return "none arrived" in await watchdog.ask()

    await eventually(stuck, timeout_s=EVENTUALLY_S)


async def test_the_watchdog_does_not_blame_the_process_for_an_outage(bench: Any, kafka: Any) -> None:
    log = await bench.open()
    watchdog = Watchdog(log, clock=SystemClock(), stall_s=0.1)
    consumer = await log.consumer("g", [bench.topic])
    kafka.freeze()
    try:
        await consumer.fetch(1, 0.5)
        assert await watchdog.ask() == ""
    finally:
        kafka.thaw()

"""The runner on Kafka, as in the embedded mode: retries by tier, back-pressure, a clean stop."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import Any

import psutil
import pytest
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.events import Record
from eunoe_stream.kafka import member as member_module
from eunoe_telemetry.testing import eventually

pytestmark = pytest.mark.servers

EVENTUALLY_S = 30.0
LARGE = 100_000


async def settled(bench: Any, log: Any) -> bool:
    return all([await log.lag(topic, bench.group) == 0 for topic in bench.names[:2]])


async def test_a_retry_waits_in_its_tier_and_holds_nobody_up(bench: Any) -> None:
    log = await bench.open()
    bench.fail(3, StoreUnavailable("away"))
    began = time.monotonic()
    await log.publish([bench.record(n) for n in range(10)])
    await bench.run(log)
    await eventually(lambda: len(bench.handled) == 9, timeout_s=EVENTUALLY_S)
    assert bench.document(3) not in bench.handled
    await eventually(lambda: len(bench.handled) == 10, timeout_s=EVENTUALLY_S)
    assert time.monotonic() - began >= 1, "the tier of a second"
    await eventually(lambda: settled(bench, log), timeout_s=EVENTUALLY_S)
    assert Counter(bench.started) == Counter({bench.document(n): 1 + (n == 3) for n in range(10)})


def large(record: Record) -> Record:
    """With 100,000 bytes in a field that nobody knows."""
    return replace(record, value=record.value + b"\xfa\x7f\xa0\x8d\x06" + b"x" * LARGE)


async def test_a_slow_handler_bounds_what_is_in_memory(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is finished while 120 MB wait: a quarter of that is what member and runner may hold, and they stop there."""
    room, concurrency = 64, 16
    monkeypatch.setattr(member_module, "ROOM", room)
    log = await bench.open()
    count = 1_200
    gate = bench.hold("all")
    bench.gates.update({bench.document(n): gate for n in range(count)})
    process = psutil.Process()
    for first in range(0, count, 50):
        await log.publish([large(bench.record(n)) for n in range(first, first + 50)])
    before = process.memory_info().rss
    await bench.run(log, concurrency=concurrency)
    [member] = log.members()
    client = log.client_of(member)
    # Two keys for each that runs are queued per partition, then it is paused.
    await eventually(lambda: len(client.paused()) == 4, timeout_s=EVENTUALLY_S)
    assert len(bench.started) == 4 * concurrency
    assert sum(map(len, member._intake._queues.values())) <= 2 * room
    assert process.memory_info().rss - before < count * LARGE / 2
    gate.set()
    await eventually(lambda: len(bench.handled) == count, timeout_s=EVENTUALLY_S)
    await eventually(lambda: settled(bench, log), timeout_s=EVENTUALLY_S)
    assert len(bench.started) == count


async def test_a_drained_process_leaves_nothing_to_repeat(bench: Any) -> None:
    log = await bench.open()
    await log.publish([bench.record(n) for n in range(30)])
    runner = await bench.run(log)
    await eventually(lambda: len(bench.handled) >= 10, timeout_s=EVENTUALLY_S)
    await runner.drain(5)
    await bench.run(log)
    await eventually(lambda: settled(bench, log), timeout_s=EVENTUALLY_S)
    assert len(bench.started) == 30
    assert max(Counter(bench.started).values()) == 1

"""The broker is killed and comes back: what was acknowledged is there and arrives, and both sides go on by themselves.

The chaos run stops it, too.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.events import Record
from eunoe_stream.kafka import log as kafka_log
from eunoe_stream.kafka import producer as kafka_producer
from eunoe_stream.runner import outbox
from eunoe_telemetry.testing import eventually

pytestmark = [pytest.mark.servers, pytest.mark.timeout(180)]

EVENTUALLY_S = 60.0


async def test_what_was_acknowledged_survives_a_kill_and_arrives(bench: Any, kafka: Any) -> None:
    log = await bench.open()
    acknowledged: set[int] = set()
    received: list[int] = []
    consumer = await log.consumer(bench.group, [bench.topic])
    stop = asyncio.Event()

    async def publish() -> None:
        for number in itertools.count():
            if stop.is_set():
                return
            try:
                await log.publish([Record(bench.topic, f"k{number % 50}", str(number).encode())])
            except StoreUnavailable:
                continue
            acknowledged.add(number)

    async def receive() -> None:
        while True:
            found = await consumer.fetch(100, 0.2)
            received.extend(int(each.record.value) for each in found)
            try:
                await consumer.commit({each.source: each.offset + 1 for each in found})
            except StoreUnavailable:
                continue

    tasks = [asyncio.create_task(publish()), asyncio.create_task(receive())]
    try:
        await eventually(lambda: len(acknowledged) > 100, timeout_s=EVENTUALLY_S)
        await asyncio.to_thread(kafka.kill)
        await asyncio.to_thread(kafka.start)
        before = len(acknowledged)
        await eventually(lambda: len(acknowledged) > before + 100, timeout_s=EVENTUALLY_S)
        stop.set()
        await tasks[0]
        await eventually(lambda: acknowledged <= set(received), timeout_s=EVENTUALLY_S)
        await consumer.commit({})
        assert not tasks[1].done()
    finally:
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_stopping_does_not_wait_for_a_broker_that_answers_nothing(bench: Any, kafka: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((kafka_log, "CLOSE_S"), (kafka_producer, "STOP_S"), (outbox, "CLOSE_S")):
        monkeypatch.setattr(module, name, 0.5)
    log = await bench.open()
    runner = await bench.run(log)
    await log.publish([bench.record(0)])
    await eventually(lambda: len(bench.handled) == 1, timeout_s=EVENTUALLY_S)
    kafka.freeze()
    try:
        unanswered = asyncio.create_task(log.publish([bench.record(1)]))
        # With the real limits 11 s, after the drain; a process is ended by force after 15 s.
        async with asyncio.timeout(5):
            await runner.stop()
            await log.close()
        with pytest.raises(StoreUnavailable):
            await unanswered
    finally:
        kafka.thaw()

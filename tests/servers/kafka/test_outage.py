"""The broker is killed and comes back: what was acknowledged is there and arrives, and both sides go on by themselves."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from aiokafka.errors import LeaderNotAvailableError, OutOfOrderSequenceNumber
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.events import Record
from eunoe_stream.kafka.connection import make_producer
from eunoe_stream.kafka.producer import Producer
from eunoe_stream.kafka.testing import trial_settings
from eunoe_stream.kafka.wire import Outgoing
from eunoe_telemetry.testing import eventually

pytestmark = [pytest.mark.servers, pytest.mark.timeout(180)]

EVENTUALLY_S = 60.0


async def restarted(kafka: Any, *, killed: bool) -> None:
    await asyncio.to_thread(kafka.kill if killed else kafka.stop)
    await asyncio.to_thread(kafka.start)


async def test_what_was_acknowledged_survives_a_kill_and_a_stop_and_arrives(bench: Any, kafka: Any) -> None:
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
        for killed in (True, False):
            before = len(acknowledged)
            await eventually(lambda before=before: len(acknowledged) > before + 100, timeout_s=EVENTUALLY_S)
            await restarted(kafka, killed=killed)
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


async def test_a_producer_that_lost_a_batch_is_refused_for_ever_and_ours_is_replaced(bench: Any, kafka: Any) -> None:
    """The first half is a trap of the client: an expired batch leaves a gap in the sequence numbers."""
    settings = trial_settings(bench.address, prefix=bench.prefix)
    impatient = settings.model_copy(update={"request_timeout_s": 2.0})
    raw = make_producer(impatient, client_id="impatient")
    await raw.start()
    ours = Producer(lambda: make_producer(impatient, client_id="ours"), request_timeout_s=impatient.request_timeout_s)
    topic = bench.prefix + bench.topic

    def record(value: bytes) -> Outgoing:
        return Outgoing(topic, b"k", value, [])

    try:
        await raw.send_and_wait(topic, key=b"k", value=b"before")
        await ours.send([record(b"before")])
        await asyncio.to_thread(kafka.kill)
        lost = asyncio.gather(raw.send_and_wait(topic, key=b"k", value=b"lost"), ours.send([record(b"lost")]), return_exceptions=True)
        async with asyncio.timeout(EVENTUALLY_S):
            of_raw, of_ours = await lost
        assert isinstance(of_raw, LeaderNotAvailableError)
        assert isinstance(of_ours, StoreUnavailable)
        await asyncio.to_thread(kafka.start)
        with pytest.raises(OutOfOrderSequenceNumber):
            await raw.send_and_wait(topic, key=b"k", value=b"after")

        async def ours_works() -> bool:
            try:
                await ours.send([record(b"after")])
            except StoreUnavailable:
                return False
            return True

        await eventually(ours_works, timeout_s=EVENTUALLY_S)
        assert ours.replaced
    finally:
        if kafka.process is None:
            await asyncio.to_thread(kafka.start)
        await raw.stop()
        await ours.close()

"""A producer whose batch was not stored has a gap in its sequence numbers: the client's is refused for ever, ours is replaced."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiokafka.admin import NewTopic
from aiokafka.errors import MessageSizeTooLargeError, OutOfOrderSequenceNumber
from eunoe_contracts.errors import PayloadTooLarge, StoreUnavailable
from eunoe_contracts.events import Record
from eunoe_stream.kafka.connection import make_producer
from eunoe_stream.kafka.producer import Producer
from eunoe_stream.kafka.testing import admin_of, trial_settings
from eunoe_stream.kafka.wire import Outgoing

pytestmark = pytest.mark.servers

REFUSED = b"x" * 5_000
"""Below the client's limit, so that it gets a sequence number, and above the topic's, so that it is not stored."""


@pytest.fixture
async def narrow(bench: Any) -> str:
    """A topic for records of at most a thousand bytes."""
    topic = f"{bench.prefix}narrow"
    async with admin_of(bench.settings) as admin:
        await admin.create_topics([NewTopic(topic, 1, 1, topic_configs={"max.message.bytes": "1000"})])
    return topic


async def test_the_clients_producer_is_of_no_use_after_one_lost_batch(bench: Any, narrow: str) -> None:
    producer = make_producer(bench.settings, client_id="trap")
    await producer.start()
    try:
        await producer.send_and_wait(narrow, key=b"k", value=b"before")
        with pytest.raises(MessageSizeTooLargeError):
            await producer.send_and_wait(narrow, key=b"k", value=REFUSED)
        for _ in range(2):
            with pytest.raises(OutOfOrderSequenceNumber):
                await producer.send_and_wait(narrow, key=b"k", value=b"after")
    finally:
        await producer.stop()


async def test_ours_is_replaced_and_goes_on(bench: Any, narrow: str) -> None:
    ours = Producer(lambda: make_producer(bench.settings, client_id="ours"), request_timeout_s=10)
    try:
        await ours.send([Outgoing(narrow, b"k", b"before", [])])
        with pytest.raises(PayloadTooLarge):
            await ours.send([Outgoing(narrow, b"k", REFUSED, [])])
        await ours.send([Outgoing(narrow, b"k", b"after", [])])
        assert ours.replaced == 1
    finally:
        await ours.close()


async def test_a_record_above_the_limit_is_refused_without_a_new_producer(bench: Any) -> None:
    log = await bench.open()
    await log.publish([Record(bench.topic, "k", b"")])
    with pytest.raises(PayloadTooLarge, match="EUNOE_KAFKA__MAX_RECORD_BYTES"):
        await log.publish([Record(bench.topic, "k", b"x" * (bench.settings.max_record_bytes + 1))])
    await log.publish([Record(bench.topic, "k", b"")])
    assert log._producer.replaced == 0


async def test_a_publish_that_is_cancelled_is_stored_all_the_same(bench: Any, kafka: Any) -> None:
    log = await bench.open()
    await log.publish([Record(bench.topic, "k", b"first")])
    kafka.freeze()
    try:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await log.publish([Record(bench.topic, "k", b"second")])
    finally:
        kafka.thaw()
    found = await bench.everything(log, bench.topic, 2)
    assert [each.record.value for each in found] == [b"first", b"second"]
    assert log._producer.replaced == 0


async def test_without_a_broker_publishing_is_an_outage(bench: Any) -> None:
    ours = Producer(lambda: make_producer(trial_settings("127.0.0.1:1", prefix=""), client_id="ours"), request_timeout_s=10)
    with pytest.raises(StoreUnavailable):
        await ours.send([Outgoing("t", b"k", b"v", [])])
    await ours.close()

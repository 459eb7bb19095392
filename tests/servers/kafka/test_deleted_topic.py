"""A topic is deleted under its reader and made anew: offsets begin again, and nothing of the old one is taken for waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from aiokafka.admin import NewTopic
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.events import Record
from eunoe_stream.kafka.testing import CREATE_MS, admin_of
from eunoe_stream.log import Consumer, Delivery
from eunoe_telemetry.testing import eventually

pytestmark = [pytest.mark.servers, pytest.mark.timeout(120)]
FIVE = range(5)


async def taken(consumer: Consumer, count: int) -> Sequence[Delivery]:
    found: list[Delivery] = []
    async with asyncio.timeout(60):
        while len(found) < count:
            # Until the client has heard of the new topic, it is said to be missing.
            with suppress(StoreUnavailable):
                found += await consumer.fetch(100, 1)
    return found


async def made_anew(bench: Any) -> None:
    name = bench.prefix + bench.topic
    async with admin_of(bench.settings) as admin:
        await admin.delete_topics([name], timeout_ms=CREATE_MS)

        async def is_made() -> bool:
            answer = await admin.create_topics([NewTopic(name, 4, 1)], timeout_ms=CREATE_MS)
            return not answer.topic_errors[0][1]

        await eventually(is_made, timeout_s=30)  # the deletion goes on in the background


async def test_a_topic_made_anew_is_read_and_committed_from_its_beginning(bench: Any) -> None:
    log = await bench.open()
    consumer = await log.consumer(bench.group, [bench.topic])
    await log.publish([Record(bench.topic, "same", str(each).encode()) for each in FIVE])
    old = await taken(consumer, len(FIVE))
    await consumer.commit({old[-1].source: old[-1].offset + 1})
    await made_anew(bench)
    await log.publish([Record(bench.topic, "same", b"new")])
    (new,) = await taken(consumer, 1)
    assert (new.source, new.offset, new.record.value) == (old[0].source, 0, b"new")
    assert await log.has_pending(bench.topic, bench.group, "same")
    await consumer.commit({new.source: 1})
    assert await log.lag(bench.topic, bench.group) == 0
    assert not await log.has_pending(bench.topic, bench.group, "same")
    await log.publish([Record(bench.topic, "same", b"newer")])
    assert await log.has_pending(bench.topic, bench.group, "same")


async def test_records_that_went_with_their_topic_are_not_waited_for(bench: Any) -> None:
    """Else the sweeper would leave their documents open for ever."""
    log = await bench.open()
    await log.publish([Record(bench.topic, "gone", b"") for _ in FIVE])
    assert await log.has_pending(bench.topic, bench.group, "gone")
    await made_anew(bench)

    async def is_gone() -> bool:
        return not await log.has_pending(bench.topic, bench.group, "gone")

    await eventually(is_gone, timeout_s=30)

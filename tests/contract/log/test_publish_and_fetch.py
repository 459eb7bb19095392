"""What every adapter of the Log port promises about records and offsets."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from eunoe_contracts import topics
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.events import Record
from eunoe_stream.log import Delivery, Log, TopicPartition
from eunoe_telemetry.testing import ManualClock

TOPIC = "eunoe.test.v1"
MILLISECOND = timedelta(milliseconds=1)
WAIT_S = 10.0


def record(key: str, value: str = "", topic: str = TOPIC, **headers: str) -> Record:
    return Record(topic, key, value.encode(), headers)


def next_offsets(deliveries: Sequence[Delivery]) -> dict[TopicPartition, int]:
    return {each.source: each.offset + 1 for each in deliveries}


async def test_a_record_comes_back_as_it_was_published(log: Log, rig: Any) -> None:
    before = rig.clock.now()
    await log.publish([record("k", "\u00fcber", **{"eunoe-tenant": "t", "x": "\u4f60"})])
    after = rig.clock.now()
    consumer = await log.consumer("g", [TOPIC])
    [delivery] = await rig.fetch_all(consumer)
    assert delivery.record == record("k", "\u00fcber", **{"eunoe-tenant": "t", "x": "\u4f60"})
    assert delivery.offset == 0
    assert before - MILLISECOND <= delivery.published_at <= after, "to the millisecond; exactly where the clock stands still"


async def test_offsets_are_contiguous_and_keys_stay_in_one_partition(log: Log, rig: Any) -> None:
    for start in range(0, 60, 20):
        await log.publish([record(f"k{n % 7}", str(n)) for n in range(start, start + 20)])
    consumer = await log.consumer("g", [TOPIC])
    found = await rig.fetch_all(consumer, limit=9)
    assert len(found) == 60
    by_partition: dict[int, list[int]] = defaultdict(list)
    by_key: dict[str, list[int]] = defaultdict(list)
    partitions_of_key: dict[str, set[int]] = defaultdict(set)
    for each in found:
        by_partition[each.partition].append(each.offset)
        by_key[each.record.key].append(int(each.record.value))
        partitions_of_key[each.record.key].add(each.partition)
    assert all(offsets == list(range(len(offsets))) for offsets in by_partition.values())
    assert all(values == sorted(values) for values in by_key.values())
    assert all(len(partitions) == 1 for partitions in partitions_of_key.values())


async def test_nothing_to_publish_is_nothing(log: Log) -> None:
    await log.publish([])
    assert await log.lag(TOPIC, "g") == 0


async def test_every_group_gets_every_record(log: Log, rig: Any) -> None:
    await log.publish([record(str(n)) for n in range(5)])
    first, second = await log.consumer("a", [TOPIC]), await log.consumer("b", [TOPIC])
    assert len(await rig.fetch_all(first)) == 5
    assert len(await rig.fetch_all(second)) == 5


async def test_several_topics_in_one_consumer(log: Log, rig: Any) -> None:
    await log.publish([record("k", topic="one"), record("k", topic="two"), record("k", topic="three")])
    consumer = await log.consumer("g", ["one", "two", "two"])
    assert {each.record.topic for each in await rig.fetch_all(consumer)} == {"one", "two"}


async def test_a_fetch_never_gives_more_than_its_limit_and_no_partition_starves(log: Log) -> None:
    await log.publish([record("hot", str(n)) for n in range(100)])
    await log.publish([record(f"cold{n}") for n in range(20)])
    consumer = await log.consumer("g", [TOPIC])
    seen: set[str] = set()
    for _ in range(8):
        batch = await consumer.fetch(5, WAIT_S)
        assert len(batch) <= 5
        seen |= {each.record.key for each in batch}
    assert any(key.startswith("cold") for key in seen)


async def test_the_same_record_twice_is_stored_twice(log: Log) -> None:
    await log.publish([record("k"), record("k")])
    await log.publish([record("k")])
    assert await log.lag(TOPIC, "g") == 3


async def test_a_waiting_fetch_is_woken_by_a_publish_at_once(log: Log) -> None:
    consumer = await log.consumer("g", [TOPIC])
    assert await consumer.fetch(1, 0) == ()
    waiting = asyncio.create_task(consumer.fetch(1, 3600))  # the clock stands still: only the publish can end it
    await asyncio.sleep(0)
    await log.publish([record("k")])
    [delivery] = await waiting
    assert delivery.record.key == "k"


async def test_concurrent_publishes_lose_nothing(log: Log, rig: Any) -> None:
    await asyncio.gather(*(log.publish([record(f"{n}-{m}") for m in range(3)]) for n in range(40)))
    consumer = await log.consumer("g", [TOPIC])
    found = await rig.fetch_all(consumer)
    assert len({each.record.key for each in found}) == 120
    assert len({(each.partition, each.offset) for each in found}) == 120


async def test_lag_counts_what_is_not_committed(log: Log, rig: Any) -> None:
    await log.publish([record("k", str(n)) for n in range(5)])
    assert await log.lag(TOPIC, "g") == 5
    consumer = await log.consumer("g", [TOPIC])
    found = await rig.fetch_all(consumer)
    assert await log.lag(TOPIC, "g") == 5
    await consumer.commit(next_offsets(found[:2]))
    assert await log.lag(TOPIC, "g") == 3
    assert await log.lag("unknown", "g") == 0


async def test_the_oldest_record_is_the_first_that_is_not_committed(log: Log, rig: Any) -> None:
    assert await log.oldest(TOPIC, "g") is None
    await log.publish([record(f"k{n}") for n in range(8)])
    await log.publish([record("k0", "later")])
    consumer = await log.consumer("g", [TOPIC])
    found = await rig.fetch_all(consumer)
    first = min(each.published_at for each in found)
    assert await log.oldest(TOPIC, "g") == first
    [last] = [each for each in found if each.record.value == b"later"]
    await consumer.commit({**next_offsets(found), last.source: last.offset})
    assert await log.oldest(TOPIC, "g") == last.published_at
    await consumer.commit(next_offsets(found))
    assert await log.oldest(TOPIC, "g") is None
    assert await log.oldest("unknown", "g") is None


async def test_pending_looks_at_the_topic_and_the_retry_topics_of_the_group(log: Log, rig: Any) -> None:
    consumer = await log.consumer("g", [TOPIC])
    assert not await log.has_pending(TOPIC, "g", "k")
    await log.publish([record("k"), record("other")])
    assert await log.has_pending(TOPIC, "g", "k")
    await consumer.commit(next_offsets(await rig.fetch_all(consumer)))
    assert not await log.has_pending(TOPIC, "g", "k")
    await log.publish([record("k", topic=topics.retry_topic(TOPIC, "other-group", timedelta(seconds=1)))])
    assert not await log.has_pending(TOPIC, "g", "k")
    await log.publish([record("k", topic=topics.retry_topic(TOPIC, "g", timedelta(seconds=10)))])
    assert await log.has_pending(TOPIC, "g", "k")
    assert not await log.has_pending(TOPIC, "g", "other")


async def test_trim_removes_only_old_records_that_every_group_committed(leased_log: Any, leased: Any, clock: ManualClock) -> None:
    log, rig = leased_log, leased
    a, b = await log.consumer("a", [TOPIC]), await log.consumer("b", [TOPIC])
    await log.publish([record("k", str(n)) for n in range(6)])
    await log.publish([record("k", topic="nobody")])
    found = await rig.fetch_all(a)
    await a.commit(next_offsets(found))
    assert await log.trim(clock.now() + timedelta(seconds=1)) == 0
    await b.commit(next_offsets((await rig.fetch_all(b))[:4]))
    assert await log.trim(clock.now()) == 0
    assert await log.trim(clock.now() + timedelta(seconds=1)) == 4
    assert await log.lag(TOPIC, "b") == 2
    late = await log.consumer("late", [TOPIC])
    assert [each.offset for each in await rig.fetch_all(late)] == [4, 5]
    await log.publish([record("k", "6")])
    assert [each.offset for each in await rig.fetch_all(b)][-1] == 6
    assert await log.lag("nobody", "x") == 1


async def test_close_may_be_called_twice_and_refuses_publishes(log: Log) -> None:
    await log.close()
    await log.close()
    with pytest.raises(StoreUnavailable):
        await log.publish([record("k")])

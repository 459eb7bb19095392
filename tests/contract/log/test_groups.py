"""What every adapter of the Log port promises about groups, commits and moving partitions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from eunoe_contracts.events import Record
from eunoe_stream.log import Delivery, Log, TopicPartition
from eunoe_telemetry.testing import eventually

TOPIC = "eunoe.test.v1"
WAIT_S = 10.0
EVENTUALLY_S = 20.0


def records(count: int) -> list[Record]:
    return [Record(TOPIC, f"k{n}", str(n).encode()) for n in range(count)]


def next_offsets(deliveries: Sequence[Delivery]) -> dict[TopicPartition, int]:
    return {each.source: each.offset + 1 for each in deliveries}


def values(deliveries: Sequence[Delivery]) -> set[int]:
    return {int(each.record.value) for each in deliveries}


async def test_what_was_not_committed_comes_again_after_a_crash(rig: Any) -> None:
    log = rig.make()
    await log.publish(records(20))
    crashed = await log.consumer("g", [TOPIC])
    found = await rig.fetch_all(crashed)
    committed = [each for each in found if each.partition < 2]
    await crashed.commit(next_offsets(committed))
    # No close: the process is gone. Another one reads from the committed offsets once it counts as dead.
    await rig.silence(crashed)
    after = await rig.make().consumer("g", [TOPIC])
    assert values(await rig.fetch_all(after)) == values(found) - values(committed)


async def test_a_commit_never_moves_back(log: Log, rig: Any) -> None:
    await log.publish(records(20))
    consumer = await log.consumer("g", [TOPIC])
    found = await rig.fetch_all(consumer)
    await consumer.commit(next_offsets(found))
    await consumer.commit(dict.fromkeys(next_offsets(found), 0))
    assert await log.lag(TOPIC, "g") == 0


async def test_close_gives_the_partitions_up_at_once_and_may_be_called_twice(log: Log, rig: Any) -> None:
    await log.publish(records(8))
    first, second = await log.consumer("g", [TOPIC]), await log.consumer("g", [TOPIC])
    await first.fetch(100, 0)
    await first.close()
    await first.close()
    assert await first.fetch(100, 3600) == ()
    assert len(await rig.fetch_all(second)) == 8


async def test_a_second_member_gets_its_share_after_the_first_has_drained(log: Log, rig: Any) -> None:
    first = await log.consumer("g", [TOPIC])
    await log.publish(records(40))
    taken = await rig.fetch_all(first)
    assert len(taken) == 40
    revoked: set[TopicPartition] = set()
    second: list[Any] = []

    async def drain(partitions: frozenset[TopicPartition]) -> None:
        for each in second:
            assert await each.fetch(100, 0) == (), "the partitions are still with the first"
        await first.commit({each: offset for each, offset in next_offsets(taken).items() if each in partitions})
        revoked.update(partitions)

    first.on_revoked(drain)
    second.append(await log.consumer("g", [TOPIC]))
    assert await first.fetch(1, 0) == ()
    assert len(revoked) >= 2
    assert await rig.fetch_all(second[0]) == [], "everything was committed before"
    await log.publish(records(40))
    mine, others = await rig.fetch_all(first), await rig.fetch_all(second[0])
    assert len({each.source for each in others}) == 2
    assert {each.source for each in others} <= revoked
    assert values(mine) | values(others) == set(range(40))
    assert not values(mine) & values(others)


async def test_two_waiting_members_settle_without_anybody_advancing_time(log: Log) -> None:
    found: dict[int, list[Delivery]] = {1: [], 2: []}

    async def consume(number: int) -> None:
        consumer = await log.consumer("g", [TOPIC])
        while True:
            found[number] += await consumer.fetch(10, 3600)

    tasks = [asyncio.create_task(consume(1)), asyncio.create_task(consume(2))]
    try:

        async def both_work() -> bool:
            await log.publish(records(8))
            return bool(found[1] and found[2])

        await eventually(both_work, timeout_s=EVENTUALLY_S)
    finally:
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_members_that_fetch_keep_their_partitions(log: Log, rig: Any) -> None:
    first, second = await log.consumer("g", [TOPIC]), await log.consumer("g", [TOPIC])
    await rig.fetch_all(first)
    await rig.fetch_all(second)
    lost: list[frozenset[TopicPartition]] = []

    async def note(partitions: frozenset[TopicPartition]) -> None:
        lost.append(partitions)

    first.on_revoked(note)
    for _ in range(3):
        await rig.idle(first)
        await second.fetch(1, 0)
    await log.publish(records(20))
    assert values(await rig.fetch_all(first)) | values(await rig.fetch_all(second)) == set(range(20))
    assert lost == []


async def test_paused_partitions_are_left_out_and_stay_with_their_member(log: Log, rig: Any) -> None:
    consumer = await log.consumer("g", [TOPIC])
    await log.publish(records(40))
    partitions = frozenset(TopicPartition(TOPIC, n) for n in range(4))
    consumer.pause(partitions)
    for _ in range(4):
        assert await rig.idle(consumer) == ()
    waiting = asyncio.create_task(consumer.fetch(100, 3600))
    consumer.resume(frozenset({TopicPartition(TOPIC, 1)}))
    assert {each.partition for each in await waiting} == {1}
    await rig.fetch_all(consumer)
    consumer.resume(partitions)
    assert {each.partition for each in await rig.fetch_all(consumer)} == {0, 2, 3}


async def test_lost_partitions_are_noticed_and_their_commit_ignored(log: Log, rig: Any) -> None:
    await log.publish(records(20))
    slow = await log.consumer("g", [TOPIC])
    found = await rig.fetch_all(slow)
    lost: list[frozenset[TopicPartition]] = []

    async def note(partitions: frozenset[TopicPartition]) -> None:
        lost.append(partitions)

    slow.on_revoked(note)
    await rig.silence(slow)
    other = await log.consumer("g", [TOPIC])
    again = await rig.fetch_all(other)
    assert values(again) == values(found)
    await slow.commit(next_offsets(found))
    assert await log.lag(TOPIC, "g") == 20
    await slow.fetch(1, 0)
    await eventually(lambda: bool(lost), timeout_s=EVENTUALLY_S)


async def test_members_of_a_group_on_different_topics_do_not_share(log: Log, rig: Any) -> None:
    await log.publish([Record("one", f"k{n}", b"") for n in range(20)] + [Record("two", f"k{n}", b"") for n in range(20)])
    one, two = await log.consumer("g", ["one"]), await log.consumer("g", ["two"])
    assert {each.record.topic for each in await rig.fetch_all(one)} == {"one"}
    assert len(await rig.fetch_all(two)) == 20

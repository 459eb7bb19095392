"""What every adapter of the Log port promises about groups, commits, leases and rebalancing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from eunoe_contracts.events import Record
from eunoe_stream.log import Consumer, Delivery, Log, TopicPartition
from eunoe_telemetry.testing import ManualClock, eventually

TOPIC = "eunoe.test.v1"
LEASE_S = 30.0


def records(count: int) -> list[Record]:
    return [Record(TOPIC, f"k{n}", str(n).encode()) for n in range(count)]


async def fetch_all(consumer: Consumer) -> list[Delivery]:
    found: list[Delivery] = []
    while batch := await consumer.fetch(100, 0):
        found += batch
    return found


def next_offsets(deliveries: Sequence[Delivery]) -> dict[TopicPartition, int]:
    return {each.source: each.offset + 1 for each in deliveries}


def values(deliveries: Sequence[Delivery]) -> set[int]:
    return {int(each.record.value) for each in deliveries}


async def test_what_was_not_committed_comes_again_after_a_crash(make_log: Callable[[], Log], clock: ManualClock) -> None:
    log = make_log()
    await log.publish(records(20))
    crashed = await log.consumer("g", [TOPIC])
    found = await fetch_all(crashed)
    committed = [each for each in found if each.partition < 2]
    await crashed.commit(next_offsets(committed))
    # No close: the process is gone. Its leases run out, then another process reads from the committed offsets.
    after = await make_log().consumer("g", [TOPIC])
    assert await fetch_all(after) == []
    clock.advance(LEASE_S + 1)
    assert values(await fetch_all(after)) == values(found) - values(committed)


async def test_release_leases_frees_the_partitions_of_a_crashed_process_at_once(make_log: Callable[[], Any]) -> None:
    log = make_log()
    await log.publish(records(5))
    await fetch_all(await log.consumer("g", [TOPIC]))
    fresh = make_log()
    await fresh.release_leases()
    assert len(await fetch_all(await fresh.consumer("g", [TOPIC]))) == 5


async def test_a_commit_never_moves_back(log: Log) -> None:
    await log.publish(records(20))
    consumer = await log.consumer("g", [TOPIC])
    found = await fetch_all(consumer)
    await consumer.commit(next_offsets(found))
    await consumer.commit(dict.fromkeys(next_offsets(found), 0))
    assert await log.lag(TOPIC, "g") == 0


async def test_close_gives_the_partitions_up_at_once_and_may_be_called_twice(log: Log) -> None:
    await log.publish(records(8))
    first, second = await log.consumer("g", [TOPIC]), await log.consumer("g", [TOPIC])
    await first.fetch(100, 0)
    await first.close()
    await first.close()
    assert await first.fetch(100, 3600) == ()
    assert len(await fetch_all(second)) == 8


async def test_a_second_member_gets_its_share_after_the_first_has_drained(log: Log) -> None:
    first = await log.consumer("g", [TOPIC])
    await log.publish(records(40))
    taken = await fetch_all(first)
    assert len(taken) == 40
    second = await log.consumer("g", [TOPIC])
    revoked: list[frozenset[TopicPartition]] = []

    async def drain(partitions: frozenset[TopicPartition]) -> None:
        assert await fetch_all(second) == [], "the partitions are still with the first"
        await first.commit({each: offset for each, offset in next_offsets(taken).items() if each in partitions})
        revoked.append(partitions)

    first.on_revoked(drain)
    await first.fetch(1, 0)
    assert [len(each) for each in revoked] == [2]
    assert await fetch_all(second) == [], "everything was committed before"
    await log.publish(records(40))
    mine, others = await fetch_all(first), await fetch_all(second)
    assert {each.source for each in others} == revoked[0]
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

        await eventually(both_work)
    finally:
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_fetch_renews_the_leases(log: Log, clock: ManualClock) -> None:
    first, second = await log.consumer("g", [TOPIC]), await log.consumer("g", [TOPIC])
    lost: list[frozenset[TopicPartition]] = []

    async def note(partitions: frozenset[TopicPartition]) -> None:
        lost.append(partitions)

    first.on_revoked(note)
    for _ in range(6):
        clock.advance(LEASE_S / 2)
        await first.fetch(1, 0)
        await second.fetch(1, 0)
    await log.publish(records(20))
    assert values(await fetch_all(first)) | values(await fetch_all(second)) == set(range(20))
    assert lost == []


async def test_paused_partitions_are_left_out_and_keep_their_leases(log: Log, clock: ManualClock) -> None:
    consumer = await log.consumer("g", [TOPIC])
    await log.publish(records(40))
    partitions = frozenset(TopicPartition(TOPIC, n) for n in range(4))
    consumer.pause(partitions)
    for _ in range(4):
        clock.advance(LEASE_S / 2)
        assert await consumer.fetch(100, 0) == ()
    waiting = asyncio.create_task(consumer.fetch(100, 3600))
    consumer.resume(frozenset({TopicPartition(TOPIC, 1)}))
    assert {each.partition for each in await waiting} == {1}
    consumer.resume(partitions)
    assert {each.partition for each in await fetch_all(consumer)} == {0, 2, 3}


async def test_a_lost_lease_is_noticed_and_its_commit_ignored(log: Log, clock: ManualClock) -> None:
    await log.publish(records(20))
    slow = await log.consumer("g", [TOPIC])
    found = await fetch_all(slow)
    lost: list[frozenset[TopicPartition]] = []

    async def note(partitions: frozenset[TopicPartition]) -> None:
        lost.append(partitions)

    slow.on_revoked(note)
    clock.advance(LEASE_S + 1)  # it did not fetch for so long that its leases ran out
    other = await log.consumer("g", [TOPIC])
    again = await fetch_all(other)
    assert values(again) == values(found)
    await slow.commit(next_offsets(found))
    assert await log.lag(TOPIC, "g") == 20
    await slow.fetch(1, 0)
    assert lost
    await other.commit(next_offsets(again))
    assert await log.lag(TOPIC, "g") == 0


async def test_a_wall_clock_set_back_does_not_lock_the_partitions_up(make_log: Callable[[], Log], clock: ManualClock) -> None:
    log = make_log()
    await log.publish(records(5))
    await fetch_all(await log.consumer("g", [TOPIC]))  # leases until now + 30 s, then the process dies
    clock.jump(-7 * 24 * 3600)
    assert len(await fetch_all(await make_log().consumer("g", [TOPIC]))) == 5


async def test_a_wall_clock_set_forward_costs_at_most_a_repetition(log: Log, clock: ManualClock) -> None:
    consumer = await log.consumer("g", [TOPIC])
    await consumer.fetch(1, 0)
    clock.jump(7 * 24 * 3600)
    await log.publish(records(5))
    found = await fetch_all(consumer)
    assert len(found) == 5
    await consumer.commit(next_offsets(found))
    assert await log.lag(TOPIC, "g") == 0


async def test_members_of_a_group_on_different_topics_do_not_share(log: Log) -> None:
    await log.publish([Record("one", f"k{n}", b"") for n in range(20)] + [Record("two", f"k{n}", b"") for n in range(20)])
    one, two = await log.consumer("g", ["one"]), await log.consumer("g", ["two"])
    assert {each.record.topic for each in await fetch_all(one)} == {"one"}
    assert len(await fetch_all(two)) == 20

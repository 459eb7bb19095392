"""What the embedded adapters promise beside the port: leases of the wall clock, and how a process that is alone frees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eunoe_contracts.events import Record
from eunoe_stream.log import Delivery, TopicPartition
from eunoe_telemetry.testing import ManualClock

TOPIC = "eunoe.test.v1"
LEASE_S = 30.0


def records(count: int) -> list[Record]:
    return [Record(TOPIC, f"k{n}", str(n).encode()) for n in range(count)]


def next_offsets(deliveries: Sequence[Delivery]) -> dict[TopicPartition, int]:
    return {each.source: each.offset + 1 for each in deliveries}


async def test_nobody_gets_the_partitions_of_a_crashed_process_before_its_leases_run_out(leased: Any, clock: ManualClock) -> None:
    log = leased.make()
    await log.publish(records(5))
    await leased.fetch_all(await log.consumer("g", [TOPIC]))
    after = await leased.make().consumer("g", [TOPIC])
    clock.advance(LEASE_S - 1)
    assert await leased.fetch_all(after) == []
    clock.advance(LEASE_S)
    assert len(await leased.fetch_all(after)) == 5


async def test_release_leases_frees_the_partitions_of_a_crashed_process_at_once(leased: Any) -> None:
    log = leased.make()
    await log.publish(records(5))
    await leased.fetch_all(await log.consumer("g", [TOPIC]))
    fresh = leased.make()
    await fresh.release_leases()
    assert len(await leased.fetch_all(await fresh.consumer("g", [TOPIC]))) == 5


async def test_only_what_is_too_much_is_given_up(leased_log: Any, leased: Any) -> None:
    first = await leased_log.consumer("g", [TOPIC])
    await leased.fetch_all(first)
    revoked: list[frozenset[TopicPartition]] = []

    async def note(partitions: frozenset[TopicPartition]) -> None:
        revoked.append(partitions)

    first.on_revoked(note)
    await leased_log.consumer("g", [TOPIC])
    await first.fetch(1, 0)
    assert [len(each) for each in revoked] == [2]


async def test_a_lost_lease_can_be_committed_by_its_new_owner(leased_log: Any, leased: Any) -> None:
    await leased_log.publish(records(20))
    slow = await leased_log.consumer("g", [TOPIC])
    found = await leased.fetch_all(slow)
    await leased.silence(slow)
    other = await leased_log.consumer("g", [TOPIC])
    again = await leased.fetch_all(other)
    await slow.commit(next_offsets(found))
    await slow.fetch(1, 0)
    await other.commit(next_offsets(again))
    assert await leased_log.lag(TOPIC, "g") == 0


async def test_a_wall_clock_set_back_does_not_lock_the_partitions_up(leased: Any, clock: ManualClock) -> None:
    log = leased.make()
    await log.publish(records(5))
    await leased.fetch_all(await log.consumer("g", [TOPIC]))  # leases until now + 30 s, then the process dies
    clock.jump(-7 * 24 * 3600)
    assert len(await leased.fetch_all(await leased.make().consumer("g", [TOPIC]))) == 5


async def test_a_wall_clock_set_forward_costs_at_most_a_repetition(leased_log: Any, leased: Any, clock: ManualClock) -> None:
    consumer = await leased_log.consumer("g", [TOPIC])
    await consumer.fetch(1, 0)
    clock.jump(7 * 24 * 3600)
    await leased_log.publish(records(5))
    found = await leased.fetch_all(consumer)
    assert len(found) == 5
    await consumer.commit(next_offsets(found))
    assert await leased_log.lag(TOPIC, "g") == 0

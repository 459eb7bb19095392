"""Small parts: offsets, key queues, shares, the clock for tests."""

from __future__ import annotations

import asyncio

import pytest
from eunoe_contracts.events import Record
from eunoe_stream.log import Delivery, TopicPartition
from eunoe_stream.runner.key_queues import KeyQueues
from eunoe_stream.runner.retry import RetryPolicy
from eunoe_stream.runner.tracker import OffsetTracker
from eunoe_stream.shares import Lease, fair_share, is_live, next_step, partition_of
from eunoe_telemetry.testing import START, ManualClock, SequentialIds, eventually
from hypothesis import given
from hypothesis import strategies as st


@given(st.lists(st.integers(0, 30), unique=True, min_size=1).flatmap(lambda x: st.tuples(st.just(sorted(x)), st.permutations(x))))
def test_the_commit_is_the_lowest_unfinished_offset(case: tuple[list[int], list[int]]) -> None:
    offsets, order = case
    tracker = OffsetTracker()
    for each in offsets:
        tracker.take(each)
    done: set[int] = set()
    for each in order:
        tracker.done(each)
        done.add(each)
        below = [offset for offset in offsets if all(earlier in done for earlier in offsets if earlier <= offset)]
        assert tracker.uncommitted() == (below[-1] + 1 if below else None)
    assert len(tracker) == 0
    last = tracker.uncommitted()
    assert last is not None
    tracker.committed(last)
    assert tracker.uncommitted() is None


def delivery(key: str, offset: int) -> Delivery:
    return Delivery(Record("t", key, b""), 0, offset, START)


@given(st.lists(st.sampled_from("abcd"), max_size=40), st.integers(1, 3), st.randoms(use_true_random=False))
def test_keys_run_in_order_one_at_a_time_within_the_bound(keys: list[str], concurrency: int, random: object) -> None:
    queues = KeyQueues(concurrency)
    for offset, key in enumerate(keys):
        queues.put(delivery(key, offset))
    running: list[Delivery] = []
    ended: list[Delivery] = []
    while len(ended) < len(keys):
        while (started := queues.start()) is not None:
            running.append(started)
        assert len({each.record.key for each in running}) == len(running) == queues.in_flight <= concurrency
        done = running.pop(random.randrange(len(running)))  # type: ignore[attr-defined]  # hypothesis' Random
        queues.end(done.record.key)
        ended.append(done)
    assert len(queues) == 0
    for key in "abcd":
        offsets = [each.offset for each in ended if each.record.key == key]
        assert offsets == sorted(offsets)


@given(st.integers(1, 7), st.integers(1, 24))
def test_shares_cover_everything_once_and_differ_by_one_at_most(members: int, partitions: int) -> None:
    group = {f"m{n}": frozenset({"t"}) for n in range(members)}
    shares = [fair_share(each, {"t": partitions}, group) for each in group]
    assert sorted(each for share in shares for each in share) == [TopicPartition("t", n) for n in range(partitions)]
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_a_lease_that_ends_absurdly_late_counts_as_ended() -> None:
    assert is_live(110, now=100, lease_s=30)
    assert not is_live(100, now=100, lease_s=30)
    assert not is_live(161, now=100, lease_s=30)
    source = TopicPartition("t", 0)
    step = next_step("me", frozenset({source}), {source: Lease("other", 500)}, now=100, lease_s=30)
    assert step.take == {source}


def test_the_partition_of_a_key_never_changes() -> None:
    assert [partition_of(each, 12) for each in ("t/a", "t/b", "\u00fc", "")] == [9, 3, 1, 0]


def test_a_retry_policy_needs_a_delay() -> None:
    with pytest.raises(ValueError, match="at least one"):
        RetryPolicy(())


async def test_the_manual_clock_wakes_sleepers_in_order() -> None:
    clock = ManualClock()
    woken: list[int] = []

    async def sleeper(seconds: int) -> None:
        await clock.sleep(seconds)
        woken.append(seconds)

    tasks = [asyncio.create_task(sleeper(each)) for each in (3, 1, 2)]
    await asyncio.sleep(0)
    clock.advance(0.5)
    await asyncio.sleep(0)
    assert woken == []
    clock.advance(5)
    await asyncio.gather(*tasks)
    assert woken == [1, 2, 3]
    await clock.sleep(0)
    assert (clock.monotonic(), (clock.now() - START).total_seconds()) == (5.5, 5.5)
    clock.jump(-10)
    assert clock.monotonic() == 5.5


async def test_eventually_gives_up() -> None:
    with pytest.raises(AssertionError, match="did not hold"):
        await eventually(lambda: False, timeout_s=0.01)


def test_sequential_ids_differ() -> None:
    ids = SequentialIds()
    assert (ids.new(), ids.new()) == ("0" * 31 + "1", "0" * 31 + "2")

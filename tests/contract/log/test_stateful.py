"""Random histories of publishers and members of a group, against a model: lists per partition and committed offsets."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from eunoe_contracts.events import Record
from eunoe_stores.sqlite.database import SqliteDatabase
from eunoe_stream.log import Consumer, TopicPartition
from eunoe_stream.memory import MemoryLog
from eunoe_stream.shares import partition_of
from eunoe_stream.sqlite import SqliteLog
from eunoe_telemetry.testing import ManualClock, SequentialIds
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

TOPIC, GROUP = "eunoe.test.v1", "g"
PARTITIONS, LEASE_S, MOST_MEMBERS = 3, 30.0, 3
PLACES, KEYS, SHARES = st.integers(0, MOST_MEMBERS - 1), st.sampled_from("abcdefgh"), st.sampled_from([1.0, 0.5, 0.0])
T = TypeVar("T")
MakeLog = Callable[[], Any]
Adapter = Callable[[ManualClock], AbstractAsyncContextManager[MakeLog]]


@asynccontextmanager
async def memory(clock: ManualClock) -> AsyncIterator[MakeLog]:
    log = MemoryLog(clock=clock, ids=SequentialIds(), partitions=PARTITIONS, lease_s=LEASE_S)
    yield lambda: log


@asynccontextmanager
async def sqlite(clock: ManualClock) -> AsyncIterator[MakeLog]:
    with tempfile.TemporaryDirectory() as folder:
        database, ids = SqliteDatabase(Path(folder) / "eunoe.db", synchronous="OFF"), SequentialIds()
        yield lambda: SqliteLog(database, clock=clock, ids=ids, partitions=PARTITIONS, lease_s=LEASE_S)
        await database.close()


@dataclass(eq=False)
class Member:
    """A consumer and what is known of it: the next offset by partition, and whether it was the last one to look."""

    consumer: Consumer
    positions: dict[int, int] = field(default_factory=dict)
    paused: set[int] = field(default_factory=set)
    is_fresh: bool = False

    async def revoked(self, sources: frozenset[TopicPartition]) -> None:
        for each in sources:
            self.positions.pop(each.partition, None)


class LogMachine(RuleBasedStateMachine):
    """The log, and beside it the model."""

    adapter: Adapter

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = ManualClock()
        self.stack = AsyncExitStack()
        self.stored: dict[int, list[str]] = {n: [] for n in range(PARTITIONS)}
        self.committed = dict.fromkeys(range(PARTITIONS), 0)
        self.owner: dict[int, Member] = {}
        self.members: list[Member] = []
        self.count = self.restarted_at = 0

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    @initialize()
    def open(self) -> None:
        self.make = self.run(self.stack.enter_async_context(type(self).adapter(self.clock)))
        self.log = self.make()
        self.join()

    def stir(self, member: Member | None = None) -> None:
        """Something happened that may move partitions: only `member`, who looked after it, knows what it has."""
        for each in self.members:
            each.is_fresh = each is member

    @rule(keys=st.lists(KEYS, min_size=1, max_size=6))
    def publish(self, keys: list[str]) -> None:
        records = []
        for key in keys:
            self.count += 1
            records.append(Record(TOPIC, key, str(self.count).encode()))
            self.stored[partition_of(key, PARTITIONS)].append(str(self.count))
        self.run(self.log.publish(records))

    @precondition(lambda self: len(self.members) < MOST_MEMBERS)
    @rule()
    def join(self) -> None:
        member = Member(self.run(self.log.consumer(GROUP, [TOPIC])))
        member.consumer.on_revoked(member.revoked)
        self.members.append(member)
        self.stir()

    @precondition(lambda self: self.members)
    @rule(place=PLACES, limit=st.integers(1, 8))
    def fetch(self, place: int, limit: int) -> None:
        self.fetched(self.member(place), limit)

    @precondition(lambda self: self.members)
    @rule(place=PLACES, limit=st.integers(1, 8), keys=st.lists(KEYS, min_size=3, max_size=12), share=SHARES)
    def work(self, place: int, limit: int, keys: list[str], share: float) -> None:
        """What members do most of the time."""
        self.publish(keys)
        self.fetched(self.member(place), limit)
        self.commit(place, share)

    @precondition(lambda self: len(self.members) > 1)
    @rule(place=PLACES, keys=st.lists(KEYS, min_size=3, max_size=12))
    def overtake(self, place: int, keys: list[str]) -> None:
        """A member sleeps through its lease with work in hand, another one takes over, and then the first one commits."""
        self.publish(keys)
        self.fetched(self.member(place), 100)
        self.wait(LEASE_S + 1)
        self.fetched(self.member(place + 1), 100)
        self.commit(place, 1.0)

    def member(self, place: int) -> Member:
        return self.members[place % len(self.members)]

    def fetched(self, member: Member, limit: int) -> int:
        found = self.run(member.consumer.fetch(limit, 0))
        assert len(found) <= limit
        for each in found:
            partition = each.partition
            assert partition not in member.paused
            # Its own position while it has the partition, the committed offset when it has just got it.
            assert each.offset == member.positions.get(partition, self.committed[partition])
            assert each.record.value.decode() == self.stored[partition][each.offset]
            member.positions[partition] = each.offset + 1
            self.owner[partition] = member
        self.stir(member)
        return len(found)

    @precondition(lambda self: self.members)
    @rule(place=PLACES, share=SHARES)
    def commit(self, place: int, share: float) -> None:
        member = self.member(place)
        for partition, position in sorted(member.positions.items()):
            offset = int(position * share)
            gain = max(0, offset - self.committed[partition])
            before = self.lag()
            self.run(member.consumer.commit({TopicPartition(TOPIC, partition): offset}))
            gained = before - self.lag()
            others = [each for each in self.members if each.is_fresh and each is not member]
            if member.is_fresh:
                assert gained == gain
            elif any(self.owner.get(partition) is each for each in others):
                assert gained == 0, "committed by a member that has lost the partition"
            assert gained in {0, gain}
            self.committed[partition] += gained

    @precondition(lambda self: self.members)
    @rule(place=PLACES, partitions=st.sets(st.integers(0, PARTITIONS - 1)))
    def pause(self, place: int, partitions: set[int]) -> None:
        member = self.member(place)
        member.consumer.resume(frozenset(TopicPartition(TOPIC, each) for each in member.paused))
        member.consumer.pause(frozenset(TopicPartition(TOPIC, each) for each in partitions))
        member.paused = partitions

    @rule(seconds=st.sampled_from([1.0, LEASE_S / 3, LEASE_S + 1]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.stir()

    @rule(seconds=st.sampled_from([-3600.0, 3600.0]))
    def set_clock(self, seconds: float) -> None:
        self.clock.jump(seconds)
        # Until its next heartbeat a member does not know that another one took what seemed to have run out.
        self.wait(LEASE_S / 3)

    @precondition(lambda self: len(self.members) > 1)
    @rule(place=PLACES, clean=st.booleans())
    def leave(self, place: int, clean: bool) -> None:
        member = self.member(place)
        self.members.remove(member)
        if clean:
            self.run(member.consumer.close())
        self.stir()

    @precondition(lambda self: self.count > self.restarted_at + 15)
    @rule()
    def restart(self) -> None:
        """The process dies with all members; the next one frees what they held."""
        self.restarted_at = self.count
        self.members.clear()
        self.owner.clear()
        self.log = self.make()
        self.run(self.log.release_leases())

    def lag(self) -> int:
        return int(self.run(self.log.lag(TOPIC, GROUP)))

    @invariant()
    def lag_is_what_was_not_committed(self) -> None:
        if hasattr(self, "log"):
            assert self.lag() == sum(len(each) for each in self.stored.values()) - sum(self.committed.values())

    def teardown(self) -> None:
        try:
            if hasattr(self, "log"):
                self.all_that_was_not_committed_comes()
        finally:
            self.run(self.stack.aclose())
            self.runner.close()

    def all_that_was_not_committed_comes(self) -> None:
        self.restart()
        self.join()
        expected = dict(self.committed)
        while self.fetched(self.members[0], 100):
            pass
        reached = self.members[0].positions
        assert {each: reached.get(each, expected[each]) for each in expected} == {each: len(rows) for each, rows in self.stored.items()}


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize(("adapter", "examples"), [(memory, 200), (sqlite, 80)])
def test_any_history_of_a_group_agrees_with_the_model(adapter: Adapter, examples: int) -> None:
    class Machine(LogMachine):
        pass

    Machine.adapter = staticmethod(adapter)  # type: ignore[assignment]  # a plain function, not a method
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=40,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],  # making a failure smaller takes longer than a test may; its steps are printed anyway
        ),
    )

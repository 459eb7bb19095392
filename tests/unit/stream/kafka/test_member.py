"""The member between client and runner, without a broker: rebalances that come at bad moments."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiokafka import TopicPartition as KafkaPartition
from aiokafka.errors import CommitFailedError, KafkaConnectionError, TopicAuthorizationFailedError
from eunoe_contracts.errors import StoreUnavailable
from eunoe_stream.kafka import KafkaLog, KafkaSettings
from eunoe_stream.kafka.member import MISSING_S, ROOM, KafkaMember
from eunoe_stream.log import TopicPartition
from eunoe_telemetry.clock import SystemClock
from eunoe_telemetry.testing import ManualClock, SequentialIds, eventually
from faststream.kafka import TestKafkaBroker

P0, P1 = KafkaPartition("p.t", 0), KafkaPartition("p.t", 1)


@dataclass
class Fetched:
    partition: int
    offset: int
    topic: str = "p.t"
    key: bytes | None = b"k"
    value: bytes | None = b""
    headers: tuple[Any, ...] = ()
    timestamp: int = 0


@dataclass
class Client:
    """The part of `AIOKafkaConsumer` that the member uses."""

    owned: set[Any] = field(default_factory=lambda: {P0, P1})
    held: set[Any] = field(default_factory=set)
    commits: list[Any] = field(default_factory=list)
    batches: list[Any] = field(default_factory=list)
    asked: list[tuple[Any, ...]] = field(default_factory=list)
    error: Exception | None = None
    stuck: bool = False
    is_deleted: bool = False

    def assignment(self) -> set[Any]:
        return self.owned

    def paused(self) -> set[Any]:
        return self.held

    def pause(self, *partitions: Any) -> None:
        self.held = self.held | set(partitions)

    def resume(self, *partitions: Any) -> None:
        self.held = self.held - set(partitions)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        assert topic == "p.t"
        return None if self.is_deleted else {0, 1}

    async def commit(self, offsets: Any) -> None:
        if self.stuck:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        self.commits.append({each.partition: offset.offset for each, offset in offsets.items()})

    async def getmany(self, *partitions: Any, timeout_ms: int, max_records: int) -> Any:
        self.asked.append(partitions)
        if self.error is not None:
            raise self.error
        return self.batches.pop(0) if self.batches else {}


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
async def member(client: Client) -> KafkaMember:
    made = KafkaMember("g", ("t",), prefix="p.", clock=SystemClock(), drain_s=0.2, commit_timeout_s=0.1)
    made.opened(client, lambda: asyncio.sleep(0))
    await made.on_partitions_assigned(client.owned)
    return made


def batch(partition: int, *offsets: int) -> Any:
    return {KafkaPartition("p.t", partition): [Fetched(partition, each) for each in offsets]}


async def test_offsets_that_begin_again_within_an_assignment_are_committed(member: KafkaMember, client: Client) -> None:
    """The topic was deleted and made anew under the member."""
    source = TopicPartition("t", 0)
    await member.dispatch(batch(0, 5, 6))
    await member.commit({source: 7})
    await member.dispatch(batch(0, 0, 1))
    await member.commit({source: 1})
    await member.commit({source: 1})
    await member.commit({source: 2})
    assert client.commits == [{0: 7}, {0: 1}, {0: 2}]


async def test_only_what_was_delivered_in_this_assignment_is_committed_and_only_forward(member: KafkaMember, client: Client) -> None:
    await member.dispatch(batch(0, 5, 6))
    await member.fetch(10, 0)
    await member.commit({TopicPartition("t", 0): 7, TopicPartition("t", 1): 9, TopicPartition("t", 4): 1})
    await member.commit({TopicPartition("t", 0): 6})
    assert client.commits == [{0: 7}]
    await member.on_partitions_revoked({P0, P1})
    await member.on_partitions_assigned({P0, P1})
    await member.commit({TopicPartition("t", 0): 99})
    assert client.commits == [{0: 7}]


async def test_records_that_nobody_took_are_forgotten_when_the_partitions_move(member: KafkaMember, client: Client) -> None:
    await member.dispatch(batch(0, 1, 2))
    await member.on_partitions_revoked({P0, P1})
    client.owned = {P1}
    await member.on_partitions_assigned({P1})
    await member.dispatch(batch(0, 3))
    await member.dispatch(batch(1, 8))
    assert [(each.partition, each.offset) for each in await member.fetch(10, 0)] == [(1, 8)]


async def test_the_group_waits_for_the_runner_and_can_be_committed_to_meanwhile(member: KafkaMember, client: Client) -> None:
    await member.dispatch(batch(0, 0))
    await member.fetch(10, 0)
    order = []

    async def drain(partitions: frozenset[TopicPartition]) -> None:
        assert partitions == {TopicPartition("t", 0), TopicPartition("t", 1)}
        await asyncio.sleep(0)
        await member.commit({TopicPartition("t", 0): 1})
        order.append("drained")

    member.on_revoked(drain)
    await member.on_partitions_revoked({P0, P1})
    order.append("moved")
    assert order == ["drained", "moved"]
    assert client.commits == [{0: 1}]


async def test_a_drain_that_does_not_end_lets_the_group_go_on_but_nothing_is_delivered_before_it_has(member: KafkaMember) -> None:
    gate = asyncio.Event()

    async def drain(partitions: frozenset[TopicPartition]) -> None:
        await gate.wait()

    member.on_revoked(drain)
    async with asyncio.timeout(5):
        await member.on_partitions_revoked({P0, P1})
        await member.on_partitions_assigned({P0, P1})
    await member.dispatch(batch(0, 4))
    assert await member.fetch(10, 0.05) == (), "the runner still holds state of the last assignment"
    waiting = asyncio.create_task(member.fetch(10, 5))
    gate.set()
    assert [each.offset for each in await waiting] == [4], "held back, not lost"


async def test_a_drain_that_fails_is_survived(member: KafkaMember) -> None:
    async def drain(partitions: frozenset[TopicPartition]) -> None:
        raise ValueError("a defect")

    member.on_revoked(drain)
    await member.on_partitions_revoked({P0})
    await member.on_partitions_assigned({P0})
    await member.dispatch(batch(0, 4))
    assert len(await member.fetch(10, 0)) == 1


async def test_paused_partitions_are_paused_again_after_an_assignment(member: KafkaMember, client: Client) -> None:
    member.pause(frozenset({TopicPartition("t", 0), TopicPartition("t", 7)}))
    assert client.held == {P0}
    await member.on_partitions_revoked({P0, P1})
    client.held = set()  # the client forgets it
    await member.on_partitions_assigned({P0, P1})
    assert client.held == {P0}
    await member.dispatch(batch(0, 1))
    assert await member.fetch(10, 0) == ()
    member.resume(frozenset({TopicPartition("t", 0)}))
    assert client.held == set()
    assert len(await member.fetch(10, 0)) == 1


async def test_a_commit_has_a_time_out_and_one_after_being_thrown_out_is_ignored(member: KafkaMember, client: Client) -> None:
    await member.dispatch(batch(0, 0))
    await member.fetch(10, 0)
    done = {TopicPartition("t", 0): 1}
    client.stuck = True
    with pytest.raises(StoreUnavailable, match="in time"):
        await member.commit(done)
    client.stuck, client.error = False, CommitFailedError("gone")
    await member.commit(done)
    client.error = KafkaConnectionError("away")
    with pytest.raises(StoreUnavailable):
        await member.commit(done)
    client.error = None
    await member.commit(done)
    assert client.commits == [{0: 1}], "what was not stored is stored by the next commit"


async def test_an_error_of_the_client_is_told_once_and_the_loop_goes_on(member: KafkaMember, client: Client) -> None:
    client.error = TopicAuthorizationFailedError("t")
    polling = asyncio.create_task(member.poll(client))
    with pytest.raises(StoreUnavailable, match="refused access"):
        await member.fetch(10, 5)
    client.error = None
    assert await polling == {}
    assert await member.fetch(10, 0) == ()


async def test_a_topic_that_stays_away_is_told_and_holds_nothing_up(client: Client) -> None:
    clock = ManualClock()
    member = KafkaMember("g", ("t",), prefix="p.", clock=clock, drain_s=0.2, commit_timeout_s=0.1)
    member.opened(client, lambda: asyncio.sleep(0))
    client.is_deleted = True
    await member.poll(client)
    assert await member.fetch(10, 0) == (), "news of a new topic may be late"
    clock.advance(MISSING_S + 0.1)
    await member.poll(client)
    await member.dispatch(batch(0, 1))
    assert len(await member.fetch(10, 0)) == 1
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="missing topics: t; `eunoe admin provision`"):
            await member.fetch(10, 0)
    client.is_deleted = False
    await member.poll(client)
    assert await member.fetch(10, 0) == ()


async def test_offsets_of_a_deleted_topic_are_not_stored_for_one_made_anew(member: KafkaMember, client: Client) -> None:
    await member.dispatch(batch(0, 0, 1))
    await member.fetch(10, 0)
    client.stuck = True  # the client repeats it until the topic is there again
    storing = asyncio.create_task(member.commit({TopicPartition("t", 0): 2}))
    await asyncio.sleep(0)
    client.is_deleted = True
    await member.on_partitions_revoked({P0, P1})
    with pytest.raises(StoreUnavailable, match="deleted"):
        await storing
    client.stuck = client.is_deleted = False
    await member.commit({TopicPartition("t", 0): 2})
    assert client.commits == [], "it ends with the assignment"
    await member.on_partitions_assigned({P0, P1})
    await member.dispatch(batch(0, 0))
    await member.commit({TopicPartition("t", 0): 1})
    assert client.commits == [{0: 1}]


async def test_polling_rests_while_enough_waits_and_goes_on_when_it_was_taken(member: KafkaMember, client: Client) -> None:
    await member.dispatch(batch(0, *range(ROOM)))
    client.batches = [batch(1, 0)]
    polling = asyncio.create_task(member.poll(client))
    await asyncio.sleep(0)
    assert client.asked == []
    await member.fetch(10, 0)
    await member.dispatch(await polling)
    assert client.asked


async def test_a_partition_that_fills_a_batch_comes_after_the_others(member: KafkaMember, client: Client) -> None:
    client.batches = [batch(0, *range(ROOM)), batch(1, 0)]
    await member.dispatch(await member.poll(client))
    await member.fetch(ROOM, 0)
    await member.dispatch(await member.poll(client))
    assert client.asked == [(), (P1,)]


async def test_close_wakes_a_waiting_fetch(member: KafkaMember) -> None:
    waiting = asyncio.create_task(member.fetch(10, 3600))
    await asyncio.sleep(0)
    await member.close()
    await member.close()
    assert await waiting == ()
    await eventually(lambda: member.is_closed)


async def test_faststreams_test_broker_reaches_the_runner_without_a_server() -> None:
    settings = KafkaSettings(_env_file=None, topic_prefix="p.")
    log = KafkaLog(settings, clock=SystemClock(), ids=SequentialIds())
    made = KafkaMember("g", ("t",), prefix="p.", clock=SystemClock(), drain_s=1, commit_timeout_s=1)
    kept = log._subscriber(made)
    async with TestKafkaBroker(log._broker) as broker:
        await broker.publish(b"body", "p.t", key=b"k", headers={"eunoe-tenant": "t"})
        [delivery] = await made.fetch(10, 5)
    assert kept.group_id == "p.g"
    assert delivery.record.value == b"body"
    assert (delivery.record.topic, delivery.record.key, delivery.record.headers["eunoe-tenant"]) == ("t", "k", "t")
    await log.close()

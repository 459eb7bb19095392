"""How aiokafka 0.14.0 and FastStream 0.7.8 behave where the adapter rests on it. A test that fails says what an upgrade changed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, OffsetAndMetadata, TopicPartition
from aiokafka.admin import NewTopic
from aiokafka.errors import CommitFailedError, IllegalStateError
from eunoe_stream.kafka.connection import make_broker, make_producer
from eunoe_stream.kafka.pending import partition_of
from eunoe_stream.kafka.testing import admin_of
from eunoe_telemetry.testing import eventually
from faststream import AckPolicy
from faststream.kafka import KafkaBroker

pytestmark = pytest.mark.servers

EVENTUALLY_S = 20.0
EXISTS = 36


class Slow(ConsumerRebalanceListener):
    """Holds a rebalance up."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.assigned: list[int] = []

    async def on_partitions_revoked(self, revoked: Any) -> None:
        await self.gate.wait()

    async def on_partitions_assigned(self, assigned: Any) -> None:
        self.assigned.append(len(assigned))


@asynccontextmanager
async def joined(bench: Any, listener: Any = None, **changes: Any) -> AsyncIterator[AIOKafkaConsumer]:
    settings = {
        "bootstrap_servers": bench.address,
        "group_id": f"{bench.prefix}g",
        "enable_auto_commit": False,
        "auto_offset_reset": "earliest",
        "heartbeat_interval_ms": 100,
        "session_timeout_ms": 1000,
        "rebalance_timeout_ms": 20_000,
    }
    consumer = AIOKafkaConsumer(**(settings | changes))
    consumer.subscribe([bench.prefix + bench.topic], listener=listener)
    await consumer.start()
    try:
        yield consumer
    finally:
        await consumer.stop()


@asynccontextmanager
async def sending(bench: Any) -> AsyncIterator[Any]:
    producer = make_producer(bench.settings, client_id="trap")
    await producer.start()
    try:
        yield producer
    finally:
        await producer.stop()


async def test_an_explicit_commit_stores_that_partition_alone(bench: Any) -> None:
    group, topic = f"{bench.prefix}g", bench.prefix + bench.topic
    async with joined(bench) as consumer, admin_of(bench.settings) as admin:
        await consumer.commit({TopicPartition(topic, 1): OffsetAndMetadata(0, "")})
        assert list(await admin.list_consumer_group_offsets(group)) == [TopicPartition(topic, 1)]
        asked = await admin.list_consumer_group_offsets(group, partitions=[TopicPartition(topic, n) for n in range(4)])
        assert [asked[TopicPartition(topic, n)].offset for n in range(4)] == [-1, 0, -1, -1]
        # And the trap: without offsets, the position of every partition is stored.
        for each in consumer.assignment():
            await consumer.position(each)
        await consumer.commit()
        assert len(await admin.list_consumer_group_offsets(group)) == 4


async def test_a_commit_for_a_partition_that_is_not_ours_is_refused_by_the_client(bench: Any) -> None:
    async with joined(bench) as consumer:
        with pytest.raises(IllegalStateError):
            await consumer.commit({TopicPartition(bench.prefix + bench.topic, 99): OffsetAndMetadata(0, "")})


async def test_a_commit_after_being_thrown_out_fails_and_is_not_retried(bench: Any) -> None:
    async with joined(bench) as slow:

        async def unheard() -> bool:
            return True

        slow._coordinator._do_heartbeat = unheard
        async with joined(bench):
            with pytest.raises(CommitFailedError):
                await slow.commit({TopicPartition(bench.prefix + bench.topic, 0): OffsetAndMetadata(0, "")})


async def test_what_was_paused_is_forgotten_by_a_rebalance(bench: Any) -> None:
    listener = Slow()
    async with joined(bench, listener) as consumer:
        consumer.pause(*consumer.assignment())
        async with joined(bench):
            await eventually(lambda: len(listener.assigned) == 2, timeout_s=EVENTUALLY_S)
            assert consumer.paused() == set()


async def test_a_poll_waits_for_a_rebalance_whatever_its_time_out(bench: Any) -> None:
    listener = Slow()
    async with joined(bench, listener) as consumer:
        listener.gate.clear()
        async with asyncio.TaskGroup() as group:
            second = joined(bench)
            group.create_task(second.__aenter__())
            await eventually(lambda: consumer._subscription.reassignment_in_progress, timeout_s=EVENTUALLY_S)
            polling = group.create_task(consumer.getmany(timeout_ms=50))
            done, _ = await asyncio.wait({polling}, timeout=1)
            assert not done
            listener.gate.set()
        await second.__aexit__(None, None, None)


async def test_a_cancelled_poll_switches_the_clients_own_check_of_progress_off(bench: Any) -> None:
    async with joined(bench) as consumer:
        await consumer.getmany(timeout_ms=10)
        assert consumer._subscription.fetcher_idle_time > 0
        polling = asyncio.create_task(consumer.getmany(timeout_ms=60_000))
        await asyncio.wait({polling}, timeout=0.05)
        polling.cancel()
        await asyncio.gather(polling, return_exceptions=True)
        await consumer.getmany(timeout_ms=10)
        assert consumer._subscription.fetcher_idle_time == 0


async def test_equal_keys_go_where_our_observer_looks_for_them(bench: Any) -> None:
    topic = bench.prefix + bench.topic
    async with sending(bench) as producer:
        keys = [f"tenant/{n}".encode() for n in range(40)]
        sent = [await (await producer.send(topic, key=key, value=b"v")) for key in keys]
    assert [each.partition for each in sent] == [partition_of(key, 4) for key in keys]
    assert len({each.partition for each in sent}) == 4


async def test_making_a_topic_that_exists_does_not_raise_but_is_told(bench: Any) -> None:
    async with admin_of(bench.settings) as admin:
        answer = await admin.create_topics([NewTopic(bench.prefix + bench.topic, 1, 1)])
    assert [each[1] for each in answer.topic_errors] == [EXISTS]


async def test_a_committed_offset_dies_with_its_topic(bench: Any) -> None:
    group, topic = f"{bench.prefix}g", bench.prefix + bench.topic
    async with sending(bench) as producer:
        await producer.send_and_wait(topic, key=b"k", value=b"v", partition=0)
    async with joined(bench) as consumer:
        await consumer.commit({TopicPartition(topic, 0): OffsetAndMetadata(1, "")})
    async with admin_of(bench.settings) as admin:
        await admin.delete_topics([topic])

        async def forgotten() -> bool:
            return not await admin.list_consumer_group_offsets(group)

        await eventually(forgotten, timeout_s=EVENTUALLY_S)


class Heard:
    """FastStream's own loop, without our hooks."""

    def __init__(self, bench: Any) -> None:
        self.bodies: Counter[bytes] = Counter()
        self.broker: KafkaBroker = make_broker(bench.settings, client_id="trap")
        self.subscriber = self.broker.subscriber(
            bench.prefix + bench.topic, group_id=f"{bench.prefix}g", ack_policy=AckPolicy.MANUAL, auto_offset_reset="earliest"
        )

        @self.subscriber
        async def hear(body: bytes) -> None:
            self.bodies[body] += 1


async def test_faststreams_own_loop_passes_over_what_it_cannot_decode(bench: Any) -> None:
    """Why decoding is the runner's: the record with a header that is no text reaches no handler, and nobody is told."""
    topic = bench.prefix + bench.topic
    heard = Heard(bench)
    async with sending(bench) as producer:
        for value, headers in ((b"first", []), (b"lost", [("h", b"\xff")]), (b"last", [])):
            await producer.send_and_wait(topic, key=b"k", value=value, headers=headers)
    await heard.broker.start()
    try:
        await eventually(lambda: heard.bodies[b"last"] == 1, timeout_s=EVENTUALLY_S)
        assert heard.bodies == {b"first": 1, b"last": 1}
    finally:
        await heard.broker.stop()


async def test_the_hooks_of_a_subscriber_are_asked_on_the_instance(bench: Any) -> None:
    heard = Heard(bench)
    polled = asyncio.Event()
    got: list[Any] = []

    async def poll(consumer: Any) -> Any:
        polled.set()
        return await consumer.getmany(timeout_ms=100, max_records=10)

    async def dispatch(msg: Any) -> None:
        got.append(msg)

    heard.subscriber.get_msg, heard.subscriber.consume_one = poll, dispatch
    async with sending(bench) as producer:
        await producer.send_and_wait(bench.prefix + bench.topic, key=b"k", value=b"v")
    await heard.broker.start()
    try:
        await eventually(lambda: bool(got), timeout_s=EVENTUALLY_S)
        assert polled.is_set()
        assert not heard.bodies
    finally:
        await heard.broker.stop()

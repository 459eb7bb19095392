"""The Log port on Kafka."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import Any

from aiokafka import TopicPartition as KafkaPartition
from eunoe_contracts import topics as topic_names
from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.errors import ConfigurationError, EunoeError
from eunoe_contracts.events import HEADER_ORIGIN, Record
from faststream import AckPolicy
from faststream.kafka import KafkaBroker

from eunoe_stream.kafka.config import KafkaSettings
from eunoe_stream.kafka.connection import make_broker, make_producer
from eunoe_stream.kafka.errors import mapped, too_large, translated
from eunoe_stream.kafka.member import KafkaMember
from eunoe_stream.kafka.observer import Observer
from eunoe_stream.kafka.producer import Producer
from eunoe_stream.kafka.quiet import limit_client_logs
from eunoe_stream.kafka.wire import COPY_ROOM, outgoing, size_of
from eunoe_stream.log import Consumer, TopicPartition

JOIN_MARGIN_S = 30.0
CLOSE_S = 3.0
"""A group that is not left within that waits for the session time-out; together with the others, a stop without brokers ends in 15 s."""
NEW_TOPIC_S = 5.0
LOOK_AGAIN_S = 0.2
PARTITION_BYTES = 262_144
logger = logging.getLogger(__name__)


class KafkaLog:
    """Made by `open_kafka_log`. Topics must exist (`provision`); names get the prefix of the settings on the wire and only there."""

    def __init__(self, settings: KafkaSettings, *, clock: Clock, ids: Ids) -> None:
        self._settings = settings
        self._clock = clock
        # Different for each process, so that the brokers' tools show who is who.
        self._client_id = f"{settings.client_id}-{ids.new()[:12]}"
        self._broker: KafkaBroker = make_broker(settings, client_id=self._client_id)
        self._producer = Producer(
            partial(make_producer, settings, client_id=f"{self._client_id}-producer"), request_timeout_s=settings.request_timeout_s
        )
        self._observer = Observer(settings, client_id=self._client_id, clock=clock)
        self._members: dict[KafkaMember, Any] = {}
        self._retry_topics: set[str] = set()
        self._closed = False

    async def start(self) -> None:
        """Connect. Raises `StoreUnavailable`."""
        with translated():
            await self._broker.connect()
        await self._producer.start()
        await self._observer.start()

    async def publish(self, records: Sequence[Record]) -> None:
        """Append; returns when all in-sync replicas have all of them. Raises `StoreUnavailable` (also after `close`).

        Raises `PayloadTooLarge` before any is sent; only when the broker's limit is below ours, some may be stored.
        """
        sent = [outgoing(each, prefix=self._settings.topic_prefix) for each in records]
        for record, each in zip(records, sent, strict=True):
            # A copy, by a retry or as a dead letter, of what was taken must be taken, too.
            room = COPY_ROOM if HEADER_ORIGIN in record.headers else 0
            if size_of(each) > self._settings.max_record_bytes + room:
                raise too_large()
        await self._producer.send(sent)

    async def consumer(self, group: str, topics: Sequence[str]) -> Consumer:
        """Join a group; returns when the group has given out its partitions, so after the other members have drained.

        Raises `ConfigurationError` for topics that do not exist.
        """
        names = tuple(dict.fromkeys(topics))
        await self._must_exist(names)
        member = KafkaMember(
            group,
            names,
            prefix=self._settings.topic_prefix,
            clock=self._clock,
            drain_s=self._settings.drain_s,
            commit_timeout_s=self._settings.commit_timeout_s,
        )
        subscriber = self._subscriber(member)
        try:
            with translated():
                async with asyncio.timeout(self._settings.rebalance_timeout_s + JOIN_MARGIN_S):
                    await subscriber.start()
        except BaseException:
            await self._stop(subscriber)
            raise
        member.opened(subscriber.consumer, partial(self._leave, member, subscriber))
        self._members[member] = subscriber
        self._retry_topics.update(each for each in names if topic_names.retry_delay(each) is not None)
        return member

    async def lag(self, topic: str, group: str) -> int:
        """Records of the topic that the group has not committed; 0 for an unknown topic."""
        sources = await self._observer.sources([self._wire(topic)])
        return sum((await self._observer.lag(sources, self._wire(group))).values())

    async def oldest(self, topic: str, group: str) -> datetime | None:
        """When the oldest record of the topic that the group has not committed was published; None without any."""
        sources = await self._observer.sources([self._wire(topic)])
        return await self._observer.oldest(sources, self._wire(group))

    async def has_pending(self, topic: str, group: str, key: str) -> bool:
        """True when the group has an uncommitted record with that key on the topic or on its retry topics, or too many to tell.

        Looks at the partition where the key lies now: after more partitions were added, an older record may be overlooked, and what is
        published again because of that is a duplicate for the ledger.
        """
        prefix = topic_names.retry_prefix(topic, group)
        tiers = {topic_names.retry_topic(topic, group, each) for each in topic_names.RETRY_DELAYS}
        tiers.update(each for each in self._retry_topics if each.startswith(prefix))
        return await self._observer.has_pending([self._wire(each) for each in (topic, *sorted(tiers))], self._wire(group), key.encode())

    async def is_behind(self, member: KafkaMember) -> bool:
        """Records wait on partitions that this member owns and may read, beyond those that it was given."""
        positions = {self._theirs(each): offset for each, offset in member.positions.items()}
        unread = [self._theirs(each) for each in member.unread]
        ends = await self._observer.ends(unread)
        if any(ends[each] > offset for each, offset in positions.items() if each in ends):
            return True
        # Of these nothing was given out since they were assigned, so it begins where the group stands.
        fresh = [each for each in unread if each not in positions]
        return any((await self._observer.lag(fresh, self._wire(member.group))).values())

    def members(self) -> Sequence[KafkaMember]:
        """The open consumers."""
        return tuple(self._members)

    def client_of(self, member: KafkaMember) -> Any:
        """The `AIOKafkaConsumer` of an open consumer, for tests."""
        return self._members[member].consumer

    def has_ended(self, member: KafkaMember) -> bool:
        """The client's poll loop of an open consumer is not running, so that nothing will ever arrive."""
        subscriber = self._members.get(member)
        return subscriber is not None and not any(not each.done() for each in subscriber.tasks)

    async def close(self) -> None:
        """Leave all groups, refuse publishes. May be called twice."""
        if self._closed:
            return
        self._closed = True
        await asyncio.gather(*(self._close(each) for each in self.members()))
        await asyncio.gather(self._producer.close(), self._observer.close())
        await self._broker.stop()

    async def _close(self, member: KafkaMember) -> None:
        try:
            await member.close()
        except EunoeError as error:
            logger.warning("%s: leaving the group failed (%s)", member.group, error.message)

    def _subscriber(self, member: KafkaMember) -> Any:
        """An ordinary subscriber that never acknowledges by itself. Its hooks for polling and dispatching are the member's."""
        settings = self._settings
        static = f"{settings.group_instance_id}.{member.topics[0]}" if settings.group_instance_id else None
        subscriber = self._broker.subscriber(
            *map(self._wire, member.topics),
            group_id=self._wire(member.group),
            group_instance_id=static,
            ack_policy=AckPolicy.MANUAL,
            auto_offset_reset="earliest",
            heartbeat_interval_ms=round(settings.heartbeat_s * 1000),
            session_timeout_ms=round(settings.session_s * 1000),
            rebalance_timeout_ms=round(settings.rebalance_timeout_s * 1000),
            max_poll_interval_ms=round(settings.max_poll_interval_s * 1000),
            max_partition_fetch_bytes=PARTITION_BYTES,
            listener=member,
            persistent=False,
        )

        async def deliver(record: Any) -> None:
            """The way of a single record, for a broker without a poll loop (`TestKafkaBroker`)."""
            member.take([record])

        subscriber(deliver, decoder=_as_it_came)
        # On the instance: the class keeps its behaviour for whoever else uses it.
        subscriber.get_msg, subscriber.consume_one = member.poll, member.dispatch  # type: ignore[method-assign]
        return subscriber

    async def _must_exist(self, names: Sequence[str]) -> None:
        """The brokers tell each other of a new topic in the first second or so."""
        give_up = self._clock.monotonic() + NEW_TOPIC_S
        while missing := [each for each, count in (await self._observer.partitions(map(self._wire, names))).items() if not count]:
            if self._clock.monotonic() > give_up:
                raise ConfigurationError(f"missing topics: {', '.join(missing)}; `eunoe admin provision` creates them")
            await asyncio.sleep(LOOK_AGAIN_S)

    async def _leave(self, member: KafkaMember, subscriber: Any) -> None:
        self._members.pop(member, None)
        await self._stop(subscriber)

    async def _stop(self, subscriber: Any) -> None:
        """Leave the group. Brokers that do not answer are not waited for: the group notices by the session time-out."""
        client = subscriber.consumer
        stopping = asyncio.ensure_future(subscriber.stop())
        for _ in range(2):
            await asyncio.wait({stopping}, timeout=CLOSE_S)
            if client is not None and not _succeeded(stopping):
                # What it waits for fails then, and it comes to its end.
                await client._client.close()  # noqa: SLF001 - the library has no stop that does not ask the coordinator
        if not _succeeded(stopping):
            stopping.cancel()
            await asyncio.wait({stopping})
            # The library may also end with the cancellation of a task of its own, which must not look like one of ours.
            error = None if stopping.cancelled() else stopping.exception()
            raise mapped(error or TimeoutError())

    def _theirs(self, source: TopicPartition) -> KafkaPartition:
        return KafkaPartition(self._wire(source.topic), source.partition)

    def _wire(self, name: str) -> str:
        return self._settings.topic_prefix + name


def _succeeded(task: asyncio.Future[Any]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


async def _as_it_came(message: Any) -> Any:
    """The fetched record: decoding is the runner's."""
    return message.raw_message


@asynccontextmanager
async def open_kafka_log(settings: KafkaSettings, *, clock: Clock, ids: Ids) -> AsyncIterator[KafkaLog]:
    """A log on the brokers of the settings, connected; left and closed at the end. Raises `StoreUnavailable` when none answers."""
    limit_client_logs()
    log = KafkaLog(settings, clock=clock, ids=ids)
    try:
        await log.start()
        yield log
    finally:
        await log.close()

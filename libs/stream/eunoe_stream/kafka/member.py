"""A member of a consumer group on Kafka: FastStream's poll loop fills it, the runner's `fetch` empties it (ADR 10)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, OffsetAndMetadata
from aiokafka import TopicPartition as KafkaPartition
from aiokafka.errors import CommitFailedError, ConsumerStoppedError, IllegalStateError
from eunoe_contracts.clock import Clock
from eunoe_contracts.errors import EunoeError, StoreUnavailable

from eunoe_stream.kafka.errors import mapped, translated
from eunoe_stream.kafka.intake import Intake
from eunoe_stream.kafka.wire import incoming
from eunoe_stream.log import Delivery, Revoked, TopicPartition
from eunoe_stream.waiting import wait_for

POLL_MS = 300
ROOM = 512
"""Records that may wait here; the poll loop rests while there are so many."""
TROUBLE_S = 1.0
MISSING_S = 2.0
"""For so long news of a topic may be late; then it is said to be missing."""
Batches = Mapping[Any, Sequence[Any]]
logger = logging.getLogger(__name__)


class KafkaMember(ConsumerRebalanceListener):  # type: ignore[misc]  # the library has no types
    """One consumer. `poll`, `dispatch` and the two methods of the listener belong to the client, the rest to the runner."""

    def __init__(self, group: str, topics: tuple[str, ...], *, prefix: str, clock: Clock, drain_s: float, commit_timeout_s: float) -> None:
        self.group = group
        self.topics = topics
        self._prefix = prefix
        self._clock = clock
        self._drain_s = drain_s
        self._commit_timeout_s = commit_timeout_s
        self._consumer: AIOKafkaConsumer | None = None
        self._stop: Callable[[], Any] | None = None
        self._intake = Intake()
        self._paused: frozenset[TopicPartition] = frozenset()
        self._floors: dict[TopicPartition, int] = {}
        self._hot: frozenset[TopicPartition] = frozenset()
        self._revoked: Revoked | None = None
        self._draining: asyncio.Future[None] | None = None
        self._error: EunoeError | None = None
        self._missing: tuple[str, ...] = ()
        self._deleted: frozenset[str] = frozenset()
        self._commits: set[asyncio.Future[None]] = set()
        self._complete_at = clock.monotonic()
        self._bell = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._is_assigned = False
        self._closed = False
        self.positions: dict[TopicPartition, int] = {}
        """Offsets after the last record that came, of partitions from which one came in this assignment."""
        self.moved_at = clock.monotonic()
        self.taken_at = clock.monotonic()

    # For the client.

    async def poll(self, consumer: AIOKafkaConsumer) -> Batches:
        """FastStream's `get_msg`. Never raises but on stop: an error is told by the next `fetch`, and the loop goes on."""
        self._consumer = consumer
        try:
            await self._room.wait()
            self._apply_pauses()
            self._look_for_topics(consumer)
            return await self._fetched(consumer)
        except (ConsumerStoppedError, asyncio.CancelledError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, a loop that ended would look like an idle one
            self._error = mapped(error)
            self._bell.set()
            await asyncio.sleep(TROUBLE_S)
            return {}

    def _look_for_topics(self, consumer: AIOKafkaConsumer) -> None:
        """A topic that is deleted is no error to the client, which waits for it without a word.

        Offsets of it say nothing about one that is made anew by that name, so none is stored any more in this assignment: the client would
        repeat the commit until there is such a topic, and its first records would be passed over.
        """
        now = self._clock.monotonic()
        missing = tuple(each for each in self.topics if not consumer.partitions_for_topic(self._prefix + each))
        if not missing:
            self._complete_at = now
        self._missing = missing if now - self._complete_at > MISSING_S else ()
        if not self._deleted.issuperset(missing):
            self._deleted |= frozenset(missing)
            for each in self._commits:
                each.cancel()

    async def _fetched(self, consumer: AIOKafkaConsumer) -> Batches:
        """Partitions that filled the last batch alone come after the others, since the client empties one before it takes the next."""
        first: dict[Any, Sequence[Any]] = {}
        others = [each for each in consumer.assignment() if _ours(each, self._prefix) not in self._hot] if self._hot else []
        if others:
            first = await consumer.getmany(*others, timeout_ms=0, max_records=ROOM)
        self._hot = frozenset()
        if sum(map(len, first.values())) >= ROOM:
            return first
        # With the first ones in hand this must not wait: a rebalance could come between.
        rest = {} if first else await consumer.getmany(timeout_ms=POLL_MS, max_records=ROOM)
        if sum(map(len, rest.values())) >= ROOM:
            self._hot = frozenset(_ours(each, self._prefix) for each in rest)
        return first or rest

    async def dispatch(self, msg: Batches) -> None:
        """FastStream's `consume_one`: into the intake, in the same step of the loop in which the client gave them out."""
        self.take([record for records in msg.values() for record in records])

    def take(self, records: Sequence[Any]) -> None:
        """Fetched records, of one partition in offset order. Those of partitions that are not ours any more are dropped."""
        by_source: dict[TopicPartition, list[Delivery]] = {}
        for record in records:
            delivery = incoming(record, prefix=self._prefix)
            by_source.setdefault(delivery.source, []).append(delivery)
        owned = self._owned() if self._consumer is not None else by_source.keys()
        for source, deliveries in by_source.items():
            if source in owned:
                first = deliveries[0].offset
                # Backwards within an assignment: the topic was deleted and made anew, and its offsets begin again.
                begins_anew = first < self.positions.get(source, first)
                self._floors[source] = first if begins_anew else self._floors.get(source, first)
                self.positions[source] = deliveries[-1].offset + 1
                self._intake.put(deliveries)
        self.moved_at = self._clock.monotonic()
        if self._intake.waiting(self._paused) >= ROOM:
            self._room.clear()
        self._bell.set()

    async def on_partitions_revoked(self, revoked: Any) -> None:
        """Before the group moves partitions: forget what nobody took, wait until the runner has finished the rest, but not for ever."""
        self._is_assigned = False
        if self._consumer is not None:
            # A deleted topic is a reason to move partitions.
            self._look_for_topics(self._consumer)
        self._intake.clear()
        self.positions.clear()
        self._room.set()
        self._hot = frozenset()
        gone = frozenset(_ours(each, self._prefix) for each in revoked)
        if gone and self._revoked is not None:
            self._draining = asyncio.ensure_future(self._revoked(gone))
            self._draining.add_done_callback(self._drained)
            await asyncio.wait({self._draining}, timeout=self._drain_s)
            if self._is_draining:
                # `fetch` gives nothing until it has ended: the runner still holds state of the last assignment.
                logger.warning("%s: work did not end within %.0f s, its records will come again", self.group, self._drain_s)
        # Offsets of this assignment mean nothing in the next one.
        self._floors.clear()

    def _drained(self, draining: asyncio.Future[None]) -> None:
        if not draining.cancelled() and (error := draining.exception()) is not None:
            logger.warning("%s: draining failed (%s)", self.group, mapped(error).code)
        self._bell.set()

    async def on_partitions_assigned(self, assigned: Any) -> None:
        """The client has forgotten what was paused."""
        self._is_assigned = True
        self._deleted = frozenset()
        self._apply_pauses()
        self.moved_at = self._clock.monotonic()
        logger.info("%s: %d partitions of %s", self.group, len(assigned), ", ".join(self.topics))

    # For the runner.

    async def fetch(self, limit: int, wait_s: float) -> Sequence[Delivery]:
        """Next records of the owned, unpaused partitions; see `Consumer.fetch`. Empty after `close`, and while work is drained.

        Raises `StoreUnavailable` in place of an empty answer while a topic is missing; what else there is still comes.
        """
        give_up = self._clock.monotonic() + wait_s
        while not self._closed:
            # Cleared before looking: what happens while we look rings again.
            self._bell.clear()
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            self.taken_at = self._clock.monotonic()
            if not self._is_draining and (found := self._intake.take(limit, self._paused)):
                if self._intake.waiting(self._paused) < ROOM:
                    self._room.set()
                return found
            rest = give_up - self._clock.monotonic()
            if rest <= 0:
                if self._missing:
                    raise StoreUnavailable(f"missing topics: {', '.join(self._missing)}; `eunoe admin provision` creates them")
                break
            await wait_for(self._bell, self._clock, rest)
        return ()

    async def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Store next offsets to read; see `Consumer.commit`. Raises `StoreUnavailable`; the caller tries again."""
        consumer = self._consumer
        if consumer is None or self._closed:
            return
        self._look_for_topics(consumer)
        owned = {each for each in self._owned() if each.topic not in self._deleted}
        # Only what came in this assignment, and only forward.
        due = {each: offset for each, offset in offsets.items() if each in owned and offset > self._floors.get(each, offset)}
        if not due:
            return
        try:
            await self._store(consumer, due)
        except EunoeError as error:
            if isinstance(error.__cause__, (CommitFailedError, IllegalStateError)):
                logger.info("%s: the group has moved on, offsets of %d partitions were not stored", self.group, len(due))
                return
            raise
        for each, offset in due.items():
            if each in self._floors:
                self._floors[each] = max(offset, self._floors[each])

    async def _store(self, consumer: AIOKafkaConsumer, due: Mapping[TopicPartition, int]) -> None:
        theirs = {_theirs(each, self._prefix): OffsetAndMetadata(offset, "") for each, offset in due.items()}
        storing: asyncio.Future[None] = asyncio.ensure_future(consumer.commit(theirs))
        self._commits.add(storing)
        try:
            with translated():
                async with asyncio.timeout(self._commit_timeout_s):
                    await storing
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise StoreUnavailable("a topic was deleted while its offsets were stored") from None
        finally:
            self._commits.discard(storing)

    def pause(self, partitions: frozenset[TopicPartition]) -> None:
        """Leave these out of `fetch` until `resume`, also after a rebalance."""
        self._paused |= partitions
        self._apply_pauses()
        self._room.set()

    def resume(self, partitions: frozenset[TopicPartition]) -> None:
        """Undo `pause`."""
        self._paused -= partitions
        self._apply_pauses()
        self._bell.set()

    def on_revoked(self, callback: Revoked) -> None:
        """Await this before partitions go to another member; longer than the drain time the group does not wait."""
        self._revoked = callback

    async def close(self) -> None:
        """Leave the group. May be called twice."""
        if self._closed:
            return
        self._closed = True
        self._intake.clear()
        self._bell.set()
        if self._stop is not None:
            with translated():
                await self._stop()

    # For the log and the watchdog.

    def opened(self, consumer: AIOKafkaConsumer, stop: Callable[[], Any]) -> None:
        """It has joined; `stop` ends it."""
        self._consumer = consumer
        self._stop = stop

    @property
    def is_closed(self) -> bool:
        """`close` was called."""
        return self._closed

    @property
    def owned(self) -> frozenset[TopicPartition]:
        """Its partitions; none while the group moves them."""
        return frozenset(self._owned()) if self._is_assigned else frozenset()

    @property
    def unread(self) -> frozenset[TopicPartition]:
        """Those of them that may be read now."""
        return self.owned - self._paused

    @property
    def waiting(self) -> int:
        """Records that `fetch` would give."""
        return self._intake.waiting(self._paused)

    @property
    def _is_draining(self) -> bool:
        return self._draining is not None and not self._draining.done()

    def _owned(self) -> set[TopicPartition]:
        consumer = self._consumer
        return set() if consumer is None else {_ours(each, self._prefix) for each in consumer.assignment()}

    def _apply_pauses(self) -> None:
        consumer = self._consumer
        if consumer is None:
            return
        owned, paused = consumer.assignment(), consumer.paused()
        wanted = {each for each in owned if _ours(each, self._prefix) in self._paused}
        consumer.pause(*(wanted - paused))
        consumer.resume(*(paused - wanted))


def _ours(partition: Any, prefix: str) -> TopicPartition:
    return TopicPartition(partition.topic.removeprefix(prefix), partition.partition)


def _theirs(partition: TopicPartition, prefix: str) -> Any:
    return KafkaPartition(prefix + partition.topic, partition.partition)

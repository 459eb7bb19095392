"""The Log port: topics with partitions, consumer groups, explicit commits. Semantics follow Kafka; correctness never rests on order.

Offsets count from 0 per (topic, partition). A committed offset is the next one to read, as in Kafka. A record is delivered
to each group at least once: a group reads again from its committed offset after a crash, a lost lease or a rebalance.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from eunoe_contracts.events import Record


class TopicPartition(NamedTuple):
    """One partition of a topic."""

    topic: str
    partition: int


@dataclass(frozen=True, slots=True)
class Delivery:
    """A record as a consumer got it."""

    record: Record
    partition: int
    offset: int
    published_at: datetime

    @property
    def source(self) -> TopicPartition:
        """Topic and partition it was read from."""
        return TopicPartition(self.record.topic, self.partition)


Revoked = Callable[[frozenset[TopicPartition]], Awaitable[None]]


class Consumer(Protocol):
    """One member of a consumer group. Not shared between tasks, but `commit` and `pause` may be called while `fetch` waits."""

    async def fetch(self, limit: int, wait_s: float) -> Sequence[Delivery]:
        """Next records of the owned, unpaused partitions, in offset order per partition; empty after `wait_s` without any.

        Moves the position, not the committed offset. Also renews the leases (heartbeat) of the owned partitions.
        """
        ...

    async def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Store next offsets to read. Never moves back; ignored for a partition that this member no longer owns."""
        ...

    def pause(self, partitions: frozenset[TopicPartition]) -> None:
        """Leave these out of `fetch` until `resume`; their leases are still renewed."""
        ...

    def resume(self, partitions: frozenset[TopicPartition]) -> None:
        """Undo `pause`."""
        ...

    def on_revoked(self, callback: Revoked) -> None:
        """Await this before partitions go to another member, so that work in flight can be drained and committed."""
        ...

    async def close(self) -> None:
        """Give up the partitions at once. May be called twice."""
        ...


class Log(Protocol):
    """A durable, partitioned log."""

    async def publish(self, records: Sequence[Record]) -> None:
        """Append; returns when all are durable. Equal keys keep their order. Raises `StoreUnavailable` or `StorageFull`, and
        `PayloadTooLarge` for a record that this log never takes.

        Publishing the same record twice appends it twice; consumers are idempotent by their ledger.
        """
        ...

    async def consumer(self, group: str, topics: Sequence[str]) -> Consumer:
        """Join a group; a new group starts at offset 0 of every topic."""
        ...

    async def lag(self, topic: str, group: str) -> int:
        """Records of the topic that the group has not committed."""
        ...

    async def oldest(self, topic: str, group: str) -> datetime | None:
        """When the oldest record of the topic that the group has not committed was published; None without any."""
        ...

    async def has_pending(self, topic: str, group: str, key: str) -> bool:
        """True when the group has an uncommitted record with that key on the topic or on its retry topics (for the sweeper)."""
        ...

    async def close(self) -> None:
        """Release resources. May be called twice."""
        ...

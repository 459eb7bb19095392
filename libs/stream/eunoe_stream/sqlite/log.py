"""The Log port on a shared SQLite file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from eunoe_contracts import topics as topic_names
from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.events import Record
from sqlalchemy import Connection

from eunoe_stream.doorbell import Doorbell
from eunoe_stream.log import Consumer, Delivery, TopicPartition
from eunoe_stream.member import Beat, GroupMember
from eunoe_stream.sqlite import groups
from eunoe_stream.sqlite import records as record_rows
from eunoe_stream.sqlite.database import Database
from eunoe_stream.sqlite.tail import Tail
from eunoe_stream.sqlite.topic_table import TopicTable

T = TypeVar("T")
LEASE_S = 30.0
POLL_S = 0.25


class SqliteLog:
    """A durable log in tables `log_*` of the database, which the caller closes.

    A publish is one write work, so it shares the database's group commit. It survives a killed process; after a loss of power the
    newest records and offsets may be missing, and what was accepted durably then has no event or no progress, which the sweeper sees
    and repeats. Readers of this process are woken at once; those of another process see a record within `poll_s`. Leases last
    `lease_s` and are renewed by `fetch`.
    """

    def __init__(
        self,
        database: Database,
        *,
        partitions: int = topic_names.PARTITIONS,
        clock: Clock,
        ids: Ids,
        lease_s: float = LEASE_S,
        poll_s: float = POLL_S,
    ) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._lease_s = lease_s
        self._poll_s = poll_s
        self._topics = TopicTable(database, partitions)
        self._doorbell = Doorbell()
        self._tail = Tail()
        self._closed = False

    async def publish(self, records: Sequence[Record]) -> None:
        """Append; returns when all are durable. Raises `StoreUnavailable` (also after `close`) or `StorageFull`."""
        if self._closed:
            raise StoreUnavailable("the log is closed")
        batch = tuple(records)
        if not batch:
            return
        names = {each.topic for each in batch}
        known = await self._topics.ensure(names)
        self._tail.add(await self._write(lambda connection: record_rows.append(connection, known, batch, self._clock.now())))
        self._doorbell.ring(names)

    async def consumer(self, group: str, topics: Sequence[str]) -> Consumer:
        """Join a group; it takes partitions at its first fetch."""
        names = tuple(dict.fromkeys(topics))
        known = await self._topics.ensure(names)
        member = GroupMember(
            self,
            self._doorbell,
            group=group,
            member=self._ids.new(),
            topics=names,
            clock=self._clock,
            lease_s=self._lease_s,
            poll_s=self._poll_s,
        )
        chosen = [known[name] for name in names]
        await self._database.write(
            lambda connection: groups.join(connection, group, member.name, chosen, now=self._now(), lease_s=self._lease_s),
            durable=False,
            quick=True,
        )
        self._doorbell.add(member)
        self._doorbell.regroup(group)
        return member

    async def lag(self, topic: str, group: str) -> int:
        """Records of the topic that the group has not committed; 0 for an unknown topic."""
        known = await self._topics.ensure([topic])
        return await self._database.read(lambda connection: record_rows.lag(connection, known[topic], group))

    async def oldest(self, topic: str, group: str) -> datetime | None:
        """When the oldest record of the topic that the group has not committed was published; None without any."""
        known = await self._topics.ensure([topic])
        return await self._database.read(lambda connection: record_rows.oldest(connection, known[topic], group))

    async def has_pending(self, topic: str, group: str, key: str) -> bool:
        """True when the group has an uncommitted record with that key on the topic or on its retry topics."""
        known = await self._topics.ensure([topic])
        chosen = [known[topic], *await self._topics.starting_with(topic_names.retry_prefix(topic, group))]
        return await self._database.read(lambda connection: record_rows.has_pending(connection, chosen, group, key))

    async def trim(self, older_than: datetime) -> int:
        """Delete records published before `older_than` that every known group has committed; returns how many.

        Topics that no group ever joined (dead topics) are left alone. Works in short transactions.
        """
        await self._topics.prepare()
        total = 0
        while deleted := await self._database.write(lambda connection: record_rows.trim(connection, older_than)):
            total += deleted
        return total

    async def release_leases(self) -> None:
        """Forget the leases of earlier processes. Only for a process that knows it is alone on the file."""
        await self._topics.prepare()
        await self._database.write(groups.release_all)
        self._doorbell.regroup()

    async def close(self) -> None:
        """Refuse further publishes. May be called twice. The database stays open."""
        self._closed = True

    async def beat(self, group: str, member: str, topics: tuple[str, ...]) -> Beat:
        """For `GroupMember`."""
        known = await self._topics.ensure(topics)
        chosen = {name: known[name] for name in topics}
        return await self._database.write(
            lambda connection: groups.beat(connection, group, member, chosen, now=self._now(), lease_s=self._lease_s),
            durable=False,
            quick=True,
        )

    def recent(self, wanted: Sequence[tuple[TopicPartition, int]], limit: int) -> Sequence[Delivery]:
        """For `GroupMember`: from memory."""
        return self._tail.read(wanted, limit)

    async def read(self, wanted: Sequence[tuple[TopicPartition, int]], limit: int) -> Sequence[Delivery]:
        """For `GroupMember`."""
        known = await self._topics.ensure({each.topic for each, _ in wanted})
        return await self._database.read(lambda connection: record_rows.read(connection, known, wanted, limit), quick=True)

    async def commit(self, group: str, member: str, offsets: Mapping[TopicPartition, int]) -> None:
        """For `GroupMember`."""
        known = await self._topics.ensure({each.topic for each in offsets})
        await self._write(lambda connection: groups.commit(connection, group, member, known, offsets))

    async def release(self, group: str, member: str, partitions: frozenset[TopicPartition]) -> None:
        """For `GroupMember`."""
        known = await self._topics.ensure({each.topic for each in partitions})
        await self._write(lambda connection: groups.release(connection, group, member, known, partitions))

    async def leave(self, group: str, member: str) -> None:
        """For `GroupMember`."""
        await self._write(lambda connection: groups.leave(connection, group, member))

    async def _write(self, work: Callable[[Connection], T]) -> T:
        return await self._database.write(work, durable=False, quick=True)

    def _now(self) -> float:
        return self._clock.now().timestamp()

"""The Log port in memory: the semantics of the durable log, gone with the process. For tests and trials."""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from eunoe_contracts import topics as topic_names
from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.events import Record

from eunoe_stream.doorbell import Doorbell
from eunoe_stream.log import Consumer, Delivery, TopicPartition
from eunoe_stream.member import Beat, GroupMember
from eunoe_stream.shares import Lease, fair_share, is_live, next_step, partition_of


@dataclass(slots=True)
class _Group:
    members: dict[str, tuple[frozenset[str], float]] = field(default_factory=dict)
    leases: dict[TopicPartition, Lease] = field(default_factory=dict)
    offsets: dict[TopicPartition, int] = field(default_factory=dict)


class MemoryLog:
    """A log in dictionaries. Everything published can be read back with `records`."""

    def __init__(
        self,
        *,
        partitions: int = topic_names.PARTITIONS,
        clock: Clock,
        ids: Ids,
        lease_s: float = 30.0,
        poll_s: float = 0.25,
    ) -> None:
        self._partitions = partitions
        self._clock = clock
        self._ids = ids
        self._lease_s = lease_s
        self._poll_s = poll_s
        self._records: dict[TopicPartition, list[Delivery]] = defaultdict(list)
        self._first: dict[TopicPartition, int] = defaultdict(int)
        self._groups: dict[str, _Group] = defaultdict(_Group)
        self._doorbell = Doorbell()
        self._closed = False

    def records(self, topic: str) -> list[Record]:
        """All stored records of a topic, by partition and offset."""
        return [each.record for source in self._sources(topic) for each in self._records[source]]

    def _sources(self, topic: str) -> Iterator[TopicPartition]:
        return (TopicPartition(topic, partition) for partition in range(self._partitions))

    async def publish(self, records: Sequence[Record]) -> None:
        """Append. Raises `StoreUnavailable` after `close`."""
        if self._closed:
            raise StoreUnavailable("the log is closed")
        for record in records:
            source = TopicPartition(record.topic, partition_of(record.key, self._partitions))
            offset = self._first[source] + len(self._records[source])
            self._records[source].append(Delivery(record, source.partition, offset, self._clock.now()))
        self._doorbell.ring(dict.fromkeys(each.topic for each in records))

    async def consumer(self, group: str, topics: Sequence[str]) -> Consumer:
        """Join a group; it takes partitions at its first fetch."""
        names = tuple(dict.fromkeys(topics))
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
        state = self._groups[group]
        state.members[member.name] = (frozenset(names), self._now() + self._lease_s)
        for source in (each for name in names for each in self._sources(name)):
            state.offsets.setdefault(source, 0)
        self._doorbell.add(member)
        self._doorbell.regroup(group)
        return member

    async def lag(self, topic: str, group: str) -> int:
        """Records of the topic that the group has not committed."""
        return sum(len(self._from(each, self._groups[group].offsets.get(each, 0))) for each in self._sources(topic))

    async def oldest(self, topic: str, group: str) -> datetime | None:
        """When the oldest record of the topic that the group has not committed was published; None without any."""
        offsets = self._groups[group].offsets
        heads = [found[0].published_at for each in self._sources(topic) if (found := self._from(each, offsets.get(each, 0)))]
        return min(heads, default=None)

    async def has_pending(self, topic: str, group: str, key: str) -> bool:
        """True when the group has an uncommitted record with that key on the topic or on its retry topics."""
        prefix = topic_names.retry_prefix(topic, group)
        offsets = self._groups[group].offsets
        sources = [each for each in self._records if each.topic == topic or each.topic.startswith(prefix)]
        return any(found.record.key == key for each in sources for found in self._from(each, offsets.get(each, 0)))

    async def trim(self, older_than: datetime) -> int:
        """Delete records published before `older_than` that every group of their topic has committed; returns how many."""
        deleted = 0
        for source, stored in self._records.items():
            committed = [each.offsets[source] for each in self._groups.values() if source in each.offsets]
            while committed and stored and stored[0].offset < min(committed) and stored[0].published_at < older_than:
                self._first[source] = stored.pop(0).offset + 1
                deleted += 1
        return deleted

    async def release_leases(self) -> None:
        """Forget all leases and members."""
        for each in self._groups.values():
            each.leases.clear()
            each.members.clear()
        self._doorbell.regroup()

    async def close(self) -> None:
        """Refuse further publishes. May be called twice."""
        self._closed = True

    async def beat(self, group: str, member: str, topics: tuple[str, ...]) -> Beat:
        """For `GroupMember`."""
        state, now = self._groups[group], self._now()
        state.members[member] = (frozenset(topics), now + self._lease_s)
        state.members = {
            name: (read, expires) for name, (read, expires) in state.members.items() if is_live(expires, now=now, lease_s=self._lease_s)
        }
        members = {name: read for name, (read, _) in state.members.items()}
        leases = {each: lease for each, lease in state.leases.items() if each.topic in topics}
        share = fair_share(member, dict.fromkeys(topics, self._partitions), members)
        step = next_step(member, share, leases, now=now, lease_s=self._lease_s)
        held = sorted(step.keep | step.take)
        state.leases.update(dict.fromkeys(held, Lease(member, now + self._lease_s)))
        return Beat({each: max(state.offsets.get(each, 0), self._first[each]) for each in held}, step.surplus, step.take)

    def recent(self, wanted: Sequence[tuple[TopicPartition, int]], limit: int) -> Sequence[Delivery]:
        """For `GroupMember`: all of it is in memory."""
        found: list[Delivery] = []
        for source, offset in wanted:
            found.extend(self._from(source, offset)[: limit - len(found)])
        return found

    async def read(self, wanted: Sequence[tuple[TopicPartition, int]], limit: int) -> Sequence[Delivery]:
        """For `GroupMember`."""
        return self.recent(wanted, limit)

    async def commit(self, group: str, member: str, offsets: Mapping[TopicPartition, int]) -> None:
        """For `GroupMember`."""
        state = self._groups[group]
        for source, offset in offsets.items():
            lease = state.leases.get(source)
            if lease is not None and lease.member == member:
                state.offsets[source] = max(state.offsets.get(source, 0), offset)

    async def release(self, group: str, member: str, partitions: frozenset[TopicPartition]) -> None:
        """For `GroupMember`."""
        self._drop(group, member, partitions)

    async def leave(self, group: str, member: str) -> None:
        """For `GroupMember`."""
        self._drop(group, member, frozenset(self._groups[group].leases))
        self._groups[group].members.pop(member, None)

    def _drop(self, group: str, member: str, partitions: frozenset[TopicPartition]) -> None:
        leases = self._groups[group].leases
        self._groups[group].leases = {each: lease for each, lease in leases.items() if each not in partitions or lease.member != member}

    def _from(self, source: TopicPartition, offset: int) -> list[Delivery]:
        stored = self._records.get(source, [])
        return stored[bisect.bisect_left(stored, offset, key=lambda each: each.offset) :]

    def _now(self) -> float:
        return self._clock.now().timestamp()

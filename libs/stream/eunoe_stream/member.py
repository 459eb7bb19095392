"""A member of a consumer group on leased partitions: the `Consumer` of the embedded logs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from eunoe_contracts.clock import Clock

from eunoe_stream.doorbell import Doorbell
from eunoe_stream.log import Delivery, Revoked, TopicPartition
from eunoe_stream.waiting import wait_for


@dataclass(frozen=True, slots=True)
class Beat:
    """Answer to a heartbeat: held partitions with the offset to read from, those among them to give up, and those taken just now.

    One that a member believed to have and takes now was lost without its notice, to somebody who has lost it again.
    """

    held: Mapping[TopicPartition, int]
    surplus: frozenset[TopicPartition]
    taken: frozenset[TopicPartition] = frozenset()


class GroupStore(Protocol):
    """Where records, leases and committed offsets lie."""

    async def beat(self, group: str, member: str, topics: tuple[str, ...]) -> Beat:
        """Renew the membership and the leases, take free partitions of the fair share."""
        ...

    def recent(self, wanted: Sequence[tuple[TopicPartition, int]], limit: int) -> Sequence[Delivery]:
        """As `read`, from memory at once; may know less than `read`, never something else."""
        ...

    async def read(self, wanted: Sequence[tuple[TopicPartition, int]], limit: int) -> Sequence[Delivery]:
        """At most `limit` records, partitions in the order given, each from its offset on and without gaps."""
        ...

    async def commit(self, group: str, member: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Store offsets of the partitions that the member holds; never back."""
        ...

    async def release(self, group: str, member: str, partitions: frozenset[TopicPartition]) -> None:
        """Give these leases up."""
        ...

    async def leave(self, group: str, member: str) -> None:
        """Give all leases and the membership up."""
        ...


class GroupMember:
    """One consumer. `fetch` belongs to one task; the other methods may be called while it waits."""

    def __init__(
        self,
        store: GroupStore,
        doorbell: Doorbell,
        *,
        group: str,
        member: str,
        topics: tuple[str, ...],
        clock: Clock,
        lease_s: float,
        poll_s: float,
    ) -> None:
        self._store = store
        self._doorbell = doorbell
        self._group = group
        self._topics = topics
        self._member = member
        self._clock = clock
        self._beat_every_s = lease_s / 3
        self._poll_s = poll_s
        self._bell = asyncio.Event()
        self._positions: dict[TopicPartition, int] = {}
        self._paused: frozenset[TopicPartition] = frozenset()
        self._revoked: Revoked | None = None
        self._next_beat = clock.monotonic()
        self._turn = 0
        self._caught_up, self._next_look = False, clock.monotonic()
        self._closed = False

    @property
    def name(self) -> str:
        """Its id in the group."""
        return self._member

    @property
    def group(self) -> str:
        """The consumer group."""
        return self._group

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics it reads."""
        return self._topics

    def wake(self) -> None:
        """Look for records now."""
        self._bell.set()

    def regroup(self) -> None:
        """Look at the members and leases of the group now."""
        self._next_beat = self._clock.monotonic()
        self._bell.set()

    async def fetch(self, limit: int, wait_s: float) -> Sequence[Delivery]:
        """Next records of the owned, unpaused partitions; see `Consumer.fetch`. Empty after `close`."""
        give_up = self._clock.monotonic() + wait_s
        while not self._closed:
            # Cleared before looking: what happens while we look rings again.
            self._bell.clear()
            if self._clock.monotonic() >= self._next_beat:
                await self._beat()
            if found := await self._read(limit):
                return found
            rest = give_up - self._clock.monotonic()
            if rest <= 0:
                break
            await wait_for(self._bell, self._clock, min(rest, self._poll_s, self._beat_every_s))
        return ()

    async def _beat(self) -> None:
        self._next_beat = self._clock.monotonic() + self._beat_every_s
        try:
            beat = await self._store.beat(self._group, self._member, self._topics)
        except BaseException:
            self._next_beat = self._clock.monotonic()
            raise
        wanted = {each: offset for each, offset in beat.held.items() if each not in beat.surplus}
        known = self._positions.keys() - beat.taken
        gone = frozenset(self._positions.keys() - (wanted.keys() & known))
        self._caught_up = self._caught_up and wanted.keys() <= known
        self._positions = {each: self._positions[each] if each in known else offset for each, offset in wanted.items()}
        if gone and self._revoked is not None:
            await self._revoked(gone)
        if beat.surplus:
            await self._store.release(self._group, self._member, beat.surplus)
            self._doorbell.regroup(self._group, but=self)

    async def _read(self, limit: int) -> Sequence[Delivery]:
        wanted = [(each, offset) for each, offset in self._positions.items() if each not in self._paused]
        if not wanted:
            return ()
        # Each fetch starts at another partition, so that a full one cannot starve the rest.
        self._turn = (self._turn + 1) % len(wanted)
        wanted = wanted[self._turn :] + wanted[: self._turn]
        if self._caught_up and self._clock.monotonic() < self._next_look:
            # What this process publishes is found in memory; the store is asked now and then for what others publish.
            found = self._store.recent(wanted, limit)
        else:
            self._next_look = self._clock.monotonic() + self._poll_s
            found = await self._store.read(wanted, limit)
            self._caught_up = len(found) < limit
        for delivery in found:
            self._positions[delivery.source] = delivery.offset + 1
        return found

    async def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Store next offsets to read; see `Consumer.commit`."""
        if offsets and not self._closed:
            await self._store.commit(self._group, self._member, offsets)

    def pause(self, partitions: frozenset[TopicPartition]) -> None:
        """Leave these out of `fetch`."""
        self._paused |= partitions

    def resume(self, partitions: frozenset[TopicPartition]) -> None:
        """Undo `pause`."""
        self._paused -= partitions
        self._caught_up = False
        self._bell.set()

    def on_revoked(self, callback: Revoked) -> None:
        """Await this before partitions go to another member."""
        self._revoked = callback

    async def close(self) -> None:
        """Give up the partitions at once. May be called twice."""
        if self._closed:
            return
        self._closed = True
        self._positions = {}
        self._doorbell.remove(self)
        self._bell.set()
        await self._store.leave(self._group, self._member)
        self._doorbell.regroup(self._group)

"""What is on the log and how far a group is, seen from outside: without joining the group and without disturbing it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka import TopicPartition as KafkaPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import GroupCoordinatorNotAvailableError, GroupLoadInProgressError, NotCoordinatorForGroupError
from eunoe_contracts.clock import Clock

from eunoe_stream.kafka.config import KafkaSettings
from eunoe_stream.kafka.connection import make_admin, make_observer
from eunoe_stream.kafka.errors import translated
from eunoe_stream.kafka.pending import KeyIndex, partition_of

ANSWER_S = 10.0
READ_S = 5.0
NOT_YET = (GroupCoordinatorNotAvailableError, GroupLoadInProgressError, NotCoordinatorForGroupError)
UNKNOWN_FOR_S = 0.1
"""A topic that was not there is looked for again after that."""


class Observer:
    """All names here are those on the wire, with the prefix. Every method raises `StoreUnavailable` when the brokers do not answer."""

    def __init__(self, settings: KafkaSettings, *, client_id: str, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._admin: AIOKafkaAdminClient = make_admin(settings, client_id=f"{client_id}-admin")
        # Two, since assigning partitions to the reader makes it forget the leaders of other topics.
        self._offsets: AIOKafkaConsumer = make_observer(settings, client_id=f"{client_id}-offsets")
        self._reader: AIOKafkaConsumer = make_observer(settings, client_id=f"{client_id}-reader")
        self._reading = asyncio.Lock()
        self._partitions: dict[str, tuple[float, int]] = {}
        self._keys: dict[tuple[str, Any], KeyIndex] = {}

    async def start(self) -> None:
        """Connect."""
        async with _answer():
            await self._admin.start()
            await self._offsets.start()
            await self._reader.start()

    async def close(self) -> None:
        """Disconnect. May be called twice."""
        await self._offsets.stop()
        await self._reader.stop()
        await self._admin.close()

    async def partitions(self, topics: Iterable[str]) -> Mapping[str, int]:
        """Number of partitions; 0 for a topic that does not exist."""
        now = self._clock.monotonic()
        wanted = dict.fromkeys(topics)
        stale = [each for each in wanted if each not in self._partitions or self._partitions[each][0] <= now]
        if stale:
            async with _answer():
                described = await self._admin.describe_topics(stale)
            counts = {each["topic"]: len(each["partitions"]) for each in described if not each["error_code"]}
            for each in stale:
                count = counts.get(each, 0)
                self._partitions[each] = (now + (self._settings.metadata_max_age_s if count else UNKNOWN_FOR_S), count)
        return {each: self._partitions[each][1] for each in wanted}

    async def sources(self, topics: Iterable[str]) -> list[Any]:
        """All partitions of these topics."""
        return [KafkaPartition(topic, number) for topic, count in (await self.partitions(topics)).items() for number in range(count)]

    async def lag(self, sources: Sequence[Any], group: str) -> Mapping[Any, int]:
        """Records of each partition that are still there and that the group has not committed."""
        ends, starts = await self._ends(sources), await self._starts(sources, group)
        return {each: max(0, ends[each] - starts[each]) for each in sources}

    async def ends(self, sources: Sequence[Any]) -> Mapping[Any, int]:
        """The offset of the next record of each partition."""
        return await self._ends(sources)

    async def oldest(self, sources: Sequence[Any], group: str) -> datetime | None:
        """When the oldest of the records that the group has not committed was published; None without any."""
        ends, starts = await self._ends(sources), await self._starts(sources, group)
        behind = {each: starts[each] for each in sources if starts[each] < ends[each]}
        stamps: dict[Any, int] = {}

        def note(source: Any, records: Sequence[Any]) -> bool:
            stamps.setdefault(source, records[0].timestamp)
            return len(stamps) == len(behind)

        await self._read(behind, note)
        return datetime.fromtimestamp(min(stamps.values()) / 1000, UTC) if stamps else None

    async def has_pending(self, topics: Iterable[str], group: str, key: bytes) -> bool:
        """Whether a record with that key is not committed by the group on the key's partition of one of the topics.

        Reads each record at most once. True also while there is so much to read that this is not known yet.
        """
        counts = await self.partitions(topics)
        sources = [KafkaPartition(topic, partition_of(key, count)) for topic, count in counts.items() if count]
        ends, starts = await self._ends(sources), await self._starts(sources, group)
        indexes = {each: self._keys.setdefault((group, each), KeyIndex()) for each in sources}
        for each, index in indexes.items():
            index.begin(starts[each], ends[each])
        if any(index.has(key, starts[each]) for each, index in indexes.items()):
            return True
        unread = {each: index.position for each, index in indexes.items() if index.position < ends[each]}

        def note(source: Any, records: Sequence[Any]) -> bool:
            indexes[source].add(records)
            return all(index.is_full or index.position >= ends[each] for each, index in indexes.items())

        await self._read(unread, note)
        return any(index.position < ends[each] or index.has(key, starts[each]) for each, index in indexes.items())

    async def _ends(self, sources: Sequence[Any]) -> Mapping[Any, int]:
        if not sources:
            return {}
        async with _answer():
            found: Mapping[Any, int] = await self._offsets.end_offsets(list(sources))
        return found

    async def _starts(self, sources: Sequence[Any], group: str) -> Mapping[Any, int]:
        """Where the group would begin: what it committed, or the first record that is still there."""
        if not sources:
            return {}
        async with _answer():
            first: Mapping[Any, int] = await self._offsets.beginning_offsets(list(sources))
            committed = await self._committed(sources, group)
        return {each: max(first[each], committed[each].offset if each in committed else -1) for each in sources}

    async def _committed(self, sources: Sequence[Any], group: str) -> Mapping[Any, Any]:
        while True:
            try:
                found: Mapping[Any, Any] = await self._admin.list_consumer_group_offsets(group, partitions=list(sources))
            except NOT_YET:
                # The first question to a fresh cluster, or the first after a broker began.
                await asyncio.sleep(self._settings.retry_backoff_s)
            else:
                return found

    async def _read(self, starts: Mapping[Any, int], note: Callable[[Any, Sequence[Any]], bool]) -> None:
        """Give `note` the records from these offsets on, until it says that it has enough, or for 5 s."""
        if not starts:
            return
        async with self._reading:
            give_up = self._clock.monotonic() + READ_S
            enough = False
            with translated():
                self._reader.assign(list(starts))
                for source, offset in starts.items():
                    self._reader.seek(source, offset)
                while not enough and (rest := give_up - self._clock.monotonic()) > 0:
                    batches = await self._reader.getmany(timeout_ms=round(rest * 1000))
                    for source, records in batches.items():
                        enough = note(source, records)
                # Else it would ask for news of them for ever.
                self._reader.pause(*starts)


@asynccontextmanager
async def _answer() -> AsyncIterator[None]:
    """The brokers must answer within 10 s; the library alone would wait as long as a request may take."""
    with translated():
        async with asyncio.timeout(ANSWER_S):
            yield

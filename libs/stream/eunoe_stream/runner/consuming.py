"""One subscription at work: fetches, starts handlers in key order, pauses and resumes partitions, commits."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable

from eunoe_contracts.errors import EunoeError, as_eunoe_error

from eunoe_stream.log import Consumer, Delivery, TopicPartition
from eunoe_stream.runner.handling import Handling
from eunoe_stream.runner.partition import PartitionWork
from eunoe_stream.runner.work import Workplace
from eunoe_stream.waiting import wait_for

FETCH_LIMIT = 256
FETCH_WAIT_S = 1.0
GATHER_S = 0.1
"""Under load a subscription fetches that seldom, so that records come many at a time; after a pause the first is fetched at once."""
COMMIT_EVERY_S = 0.2
COMMIT_AT = 500
REVOKE_S = 10.0
TROUBLE_S = 0.5
logger = logging.getLogger(__name__)


class Consuming:
    """Tasks of one subscription. `start` once, then `drain`, which may be left out, `halt` and `leave`."""

    def __init__(self, consumer: Consumer, place: Workplace) -> None:
        self.place = place
        self._consumer = consumer
        self._handling = Handling(place)
        self._clock = place.clock
        self._partitions: dict[TopicPartition, PartitionWork] = defaultdict(lambda: PartitionWork(place.subscription.concurrency))
        self._loops: list[asyncio.Task[None]] = []
        self._dirty = asyncio.Event()
        self._many = asyncio.Event()
        self._unstored = 0
        self._stopping = False
        consumer.on_revoked(self._revoked)

    @property
    def in_flight(self) -> int:
        """Handlers running now."""
        return sum(each.queues.in_flight for each in self._partitions.values())

    def start(self) -> None:
        """Begin to fetch."""
        name = f"{self.place.subscription.group}:{self.place.subscription.topic}"
        self._loops = [
            asyncio.create_task(self._fetching(), name=f"fetch {name}"),
            asyncio.create_task(self._committing(), name=f"commit {name}"),
        ]

    async def drain(self, timeout_s: float) -> None:
        """Stop fetching and starting, give running handlers that long, then halt."""
        self._stopping = True
        await _cancel(self._loops[:1])
        self.place.circuit.abandon()
        if running := self._tasks():
            await asyncio.wait(running, timeout=timeout_s)
        await self.halt()

    async def halt(self) -> None:
        """Cancel running handlers: from now on nothing is published. May be called twice."""
        self._stopping = True
        self.place.circuit.abandon()
        await _cancel([*self._loops, *self._tasks()])
        self._loops = []

    async def leave(self) -> None:
        """After `halt`: commit what is finished, leave the group. May be called twice."""
        await self._commit(self._partitions)
        try:
            await self._consumer.close()
        except EunoeError as error:
            # The leases run out by themselves; stopping must go on.
            logger.warning("%s: leaving the group failed (%s)", self.place.label, error.code)

    def _tasks(self) -> list[asyncio.Task[None]]:
        return [task for each in self._partitions.values() for task in each.tasks]

    async def _fetching(self) -> None:
        while True:
            began = self._clock.monotonic()
            try:
                batch = await self._consumer.fetch(FETCH_LIMIT, self._wait_s())
            except Exception as error:  # noqa: BLE001 - the log may come back; the health shows it meanwhile
                await self._trouble("fetch", error)
                continue
            self.place.progress.went_on("fetch")
            for delivery in batch:
                self._take(delivery)
            now = self._clock.monotonic()
            for source, part in self._partitions.items():
                part.release_due(now)
                self._advance(source, part)
            if not batch and not self.in_flight:
                self.place.progress.moved()
            await self._gather(len(batch), began)

    async def _gather(self, fetched: int, began: float) -> None:
        """Let the records of a busy time come together, so that claims, fences and ends are asked for many at once."""
        rest = GATHER_S - (self._clock.monotonic() - began)
        if 0 < fetched < FETCH_LIMIT and rest > 0:
            await self._clock.sleep(rest)

    def _wait_s(self) -> float:
        now = self._clock.monotonic()
        dues = [each.next_due - now for each in self._partitions.values() if each.next_due is not None]
        return min([FETCH_WAIT_S, *(max(each, 0.0) for each in dues)])

    def _take(self, delivery: Delivery) -> None:
        wait_s = self.place.policy.wait_s(delivery.record, self._clock.now())
        self._partitions[delivery.source].take(delivery, self._clock.monotonic() + wait_s if wait_s > 0 else None)

    def _advance(self, source: TopicPartition, part: PartitionWork) -> None:
        while not self._stopping and not part.closed and (delivery := part.queues.start()) is not None:
            task = asyncio.create_task(self._work(source, part, delivery))
            part.tasks[task] = None
            task.add_done_callback(part.ended)
        if not part.paused and part.is_full:
            part.paused = True
            self._consumer.pause(frozenset({source}))
        elif part.paused and part.has_room:
            part.paused = False
            self._consumer.resume(frozenset({source}))

    async def _work(self, source: TopicPartition, part: PartitionWork, delivery: Delivery) -> None:
        try:
            # A defect of the runner itself must not lose the record either.
            await self.place.insist(lambda: self._handling.run(delivery), "handling")
            part.tracker.done(delivery.offset)
            self.place.progress.moved()
            self._unstored += 1
            self._dirty.set()
            if self._unstored >= COMMIT_AT:
                self._many.set()
        finally:
            part.queues.end(delivery.record.key)
            self._advance(source, part)

    async def _committing(self) -> None:
        while True:
            await self._dirty.wait()
            await wait_for(self._many, self._clock, COMMIT_EVERY_S)
            self._dirty.clear()
            self._many.clear()
            self._unstored = 0
            await self._commit(list(self._partitions))

    async def _commit(self, sources: Iterable[TopicPartition]) -> None:
        parts = {each: self._partitions[each] for each in sources if each in self._partitions}
        offsets = {each: offset for each, part in parts.items() if (offset := part.tracker.uncommitted()) is not None}
        if not offsets:
            return
        try:
            await self._consumer.commit(offsets)
        except Exception as error:  # noqa: BLE001 - kept for the next commit; at worst the records come again
            self._dirty.set()
            await self._trouble("commit", error)
            return
        self.place.progress.went_on("commit")
        for source, offset in offsets.items():
            parts[source].tracker.committed(offset)

    async def _revoked(self, sources: frozenset[TopicPartition]) -> None:
        """Other members get these: finish what runs, for at most 10 s, commit, forget the rest."""
        parts = [self._partitions[each] for each in sources if each in self._partitions]
        for part in parts:
            part.closed = True
        if running := [task for part in parts for task in part.tasks]:
            _, late = await asyncio.wait(running, timeout=REVOKE_S)
            await _cancel(late)
        await self._commit(sources)
        self._consumer.resume(sources)
        for each in sources:
            self._partitions.pop(each, None)

    async def _trouble(self, doing: str, error: Exception) -> None:
        failure = as_eunoe_error(error)
        if self.place.progress.hindered(doing, failure.code):
            logger.warning("%s: %s failed (%s: %s)", self.place.label, doing, failure.code, failure.message)
        if not self._stopping:
            await self._clock.sleep(TROUBLE_S)


async def _cancel(tasks: Iterable[asyncio.Task[None]]) -> None:
    doomed = list(tasks)
    for each in doomed:
        each.cancel()
    await asyncio.gather(*doomed, return_exceptions=True)

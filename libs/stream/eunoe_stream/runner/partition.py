"""The records of one partition that were fetched and are not finished."""

from __future__ import annotations

import asyncio
from collections import deque

from eunoe_stream.log import Delivery
from eunoe_stream.runner.key_queues import KeyQueues
from eunoe_stream.runner.tracker import OffsetTracker


class PartitionWork:
    """Held (not yet due), queued and running records, and the offset to commit."""

    def __init__(self, concurrency: int) -> None:
        self._concurrency = concurrency
        self._held: deque[tuple[float, Delivery]] = deque()
        self.queues = KeyQueues(concurrency)
        self.tracker = OffsetTracker()
        self.tasks: dict[asyncio.Task[None], None] = {}
        self.paused = False
        self.closed = False

    def take(self, delivery: Delivery, due: float | None) -> None:
        """A fetched record; `due` on the monotonic clock when it must wait."""
        self.tracker.take(delivery.offset)
        if due is None and not self._held:
            self.queues.put(delivery)
        else:
            self._held.append((due or 0.0, delivery))

    def ended(self, task: asyncio.Task[None]) -> None:
        """Forget a task."""
        self.tasks.pop(task, None)

    def release_due(self, now: float) -> None:
        """Queue what became due; the head of a retry partition is always the next due."""
        while self._held and self._held[0][0] <= now:
            self.queues.put(self._held.popleft()[1])

    @property
    def next_due(self) -> float | None:
        """When the head becomes due."""
        return self._held[0][0] if self._held else None

    @property
    def is_full(self) -> bool:
        """Enough records are here: stop fetching at twice the concurrency."""
        return self._size >= 2 * self._concurrency

    @property
    def has_room(self) -> bool:
        """Half of that is done: fetch again."""
        return self._size <= self._concurrency

    @property
    def _size(self) -> int:
        return len(self._held) + len(self.queues)

"""Records of one partition in per-key order, with a bound on keys in flight."""

from __future__ import annotations

from collections import deque

from eunoe_stream.log import Delivery


class KeyQueues:
    """One queue per key; a key has at most one record in flight, the partition at most `concurrency`."""

    def __init__(self, concurrency: int) -> None:
        self._concurrency = concurrency
        self._queues: dict[str, deque[Delivery]] = {}
        self._ready: deque[str] = deque()
        self._running: set[str] = set()
        self._size = 0

    def put(self, delivery: Delivery) -> None:
        """Queue a record behind earlier ones of its key."""
        key = delivery.record.key
        queue = self._queues.setdefault(key, deque())
        if not queue and key not in self._running:
            self._ready.append(key)
        queue.append(delivery)
        self._size += 1

    def start(self) -> Delivery | None:
        """The next record that may run, now in flight; None when there is none or the bound is reached."""
        if not self._ready or len(self._running) >= self._concurrency:
            return None
        key = self._ready.popleft()
        self._running.add(key)
        return self._queues[key].popleft()

    def end(self, key: str) -> None:
        """The record in flight of that key ended."""
        self._running.discard(key)
        self._size -= 1
        if self._queues[key]:
            self._ready.append(key)
        else:
            del self._queues[key]

    @property
    def in_flight(self) -> int:
        """Records running now."""
        return len(self._running)

    def __len__(self) -> int:
        """Records queued or in flight."""
        return self._size

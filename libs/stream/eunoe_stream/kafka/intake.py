"""Records between the poll loop and `fetch`: one queue per partition, so that paused ones wait and none starves."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence

from eunoe_stream.log import Delivery, TopicPartition


class Intake:
    """Belongs to one assignment: it is emptied when the partitions are revoked."""

    def __init__(self) -> None:
        self._queues: dict[TopicPartition, deque[Delivery]] = {}

    def put(self, deliveries: Sequence[Delivery]) -> None:
        """Records of one partition in offset order."""
        if deliveries:
            self._queues.setdefault(deliveries[0].source, deque()).extend(deliveries)

    def take(self, limit: int, paused: Collection[TopicPartition]) -> list[Delivery]:
        """At most `limit`, an equal share of each partition that is not paused; what got less than its share is first next time."""
        found: list[Delivery] = []
        ready = [each for each in self._queues if each not in paused]
        for place, source in enumerate(ready):
            if len(found) >= limit:
                break
            share = -(-(limit - len(found)) // (len(ready) - place))
            queue = self._queues.pop(source)
            found.extend(queue.popleft() for _ in range(min(share, len(queue))))
            if queue:
                # Behind those that had no turn.
                self._queues[source] = queue
        return found

    def waiting(self, paused: Collection[TopicPartition]) -> int:
        """Records that `take` could give."""
        return sum(len(queue) for source, queue in self._queues.items() if source not in paused)

    def clear(self) -> None:
        """Forget everything."""
        self._queues.clear()

"""The newest records in memory, so that readers of this process need not ask the file for what it just wrote."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

from eunoe_stream.log import Delivery, TopicPartition

KEPT = 4096
KEPT_BYTES = 8 << 20


class Tail:
    """The newest `kept` records of all partitions together, fewer when their values are longer than `kept_bytes` in sum.

    Only what is durable goes in. Gaps (another process wrote, commits arrived out of order, or older records had to go) end a read,
    never skip. One bound for all partitions: a bound for each would let the memory grow with the number of partitions.
    """

    def __init__(self, kept: int = KEPT, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept = kept
        self._kept_bytes = kept_bytes
        self._bytes = 0
        self._order: deque[Delivery] = deque()
        self._records: dict[TopicPartition, dict[int, Delivery]] = defaultdict(dict)

    def add(self, deliveries: Iterable[Delivery]) -> None:
        """Records that were just committed to the file."""
        for each in deliveries:
            self._records[each.source][each.offset] = each
            self._order.append(each)
            self._bytes += len(each.record.value)
            while len(self._order) > self._kept or self._bytes > self._kept_bytes:
                self._drop_oldest()

    def read(self, wanted: Sequence[tuple[TopicPartition, int]], limit: int) -> list[Delivery]:
        """What is here without gaps from each offset on, partitions in the order given; empty says nothing about the file."""
        found: list[Delivery] = []
        for source, offset in wanted:
            records = self._records.get(source)
            while records and len(found) < limit and (delivery := records.get(offset)) is not None:
                found.append(delivery)
                offset += 1  # noqa: PLW2901 - the offset of this partition only
        return found

    def _drop_oldest(self) -> None:
        oldest = self._order.popleft()
        self._bytes -= len(oldest.record.value)
        self._records[oldest.source].pop(oldest.offset, None)

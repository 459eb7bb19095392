"""The newest records of each partition in memory, so that readers of this process need not ask the file for what it just wrote."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Sequence

from eunoe_stream.log import Delivery, TopicPartition

KEPT = 256


class Tail:
    """Only what is durable goes in. Gaps (another process wrote, or commits arrived out of order) end a read, never skip."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._records: dict[TopicPartition, OrderedDict[int, Delivery]] = defaultdict(OrderedDict)

    def add(self, deliveries: Iterable[Delivery]) -> None:
        """Records that were just committed to the file."""
        for each in deliveries:
            records = self._records[each.source]
            records[each.offset] = each
            if len(records) > self._kept:
                records.popitem(last=False)

    def read(self, wanted: Sequence[tuple[TopicPartition, int]], limit: int) -> list[Delivery]:
        """What is here without gaps from each offset on, partitions in the order given; empty says nothing about the file."""
        found: list[Delivery] = []
        for source, offset in wanted:
            records = self._records.get(source)
            while records and len(found) < limit and (delivery := records.get(offset)) is not None:
                found.append(delivery)
                offset += 1  # noqa: PLW2901 - the offset of this partition only
        return found

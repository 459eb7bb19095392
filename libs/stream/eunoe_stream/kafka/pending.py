"""Which keys lie on a partition behind an offset, remembered so that no record is read twice for that."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from aiokafka.partitioner import murmur2

MOST_KEYS = 50_000
POSITIVE = 0x7FFFFFFF


@lru_cache(maxsize=4096)
def partition_of(key: bytes, partitions: int) -> int:
    """Where Kafka's default partitioner puts a key. After the number of partitions changed, older records may lie elsewhere."""
    return (int(murmur2(key)) & POSITIVE) % partitions


class KeyIndex:
    """The last offset of each key of one partition, between a floor and `position`. Holds at most `most` keys."""

    def __init__(self, most: int = MOST_KEYS) -> None:
        self._most = most
        self._last: dict[bytes, int] = {}
        self._floor = -1
        self.position = 0
        """The next offset to read."""
        self.is_full = False
        """More keys are not committed than can be remembered; nothing is added until the group goes on."""

    def begin(self, committed: int, end: int) -> None:
        """Only what lies from here on counts now. What was committed need not be read; below the floor all is read again, and so is a
        partition that ends before what was read: the topic was deleted and made anew.
        """
        if self._floor < 0 or committed < self._floor or committed > self.position or end < self.position:
            self._last.clear()
            self._floor = self.position = committed
        if len(self._last) >= self._most:
            self._last = {key: offset for key, offset in self._last.items() if offset >= committed}
            self._floor = committed
        self.is_full = len(self._last) >= self._most

    def has(self, key: bytes, offset: int) -> bool:
        """A record with that key was read at this offset or later."""
        return self._last.get(key, -1) >= offset

    def add(self, records: Sequence[Any]) -> None:
        """Records in offset order, without gaps from `position` on."""
        for record in records:
            if self.is_full or record.offset < self.position:
                continue
            if record.key is not None:
                self._last[record.key] = record.offset
            self.position = record.offset + 1
            self.is_full = len(self._last) >= self._most

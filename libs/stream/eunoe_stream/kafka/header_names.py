"""Lets the client read records whose header names are no text.

aiokafka decodes the names of headers while it goes through a batch. At one that is not UTF-8 it raises each time it comes there: the
partition stands still for ever, and what the same poll had taken from other partitions is lost. Here such a name becomes text with
backslash escapes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from aiokafka.consumer import fetcher
from aiokafka.record.default_records import _DefaultRecordBatchPy
from aiokafka.record.memory_records import MemoryRecords

LENGTH_AT = 8
BEFORE_LENGTH_COUNTS = 12


class ReadableRecords:
    """Stands where the client has its `MemoryRecords`: the batches of one fetched partition."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._records = MemoryRecords(data)
        self._start = 0

    def size_in_bytes(self) -> int:
        """Of all that was fetched."""
        return int(self._records.size_in_bytes())

    def has_next(self) -> bool:
        """There is one more whole batch."""
        return bool(self._records.has_next())

    def next_batch(self) -> Any:
        """The next batch, or None."""
        batch = self._records.next_batch()
        if batch is None:
            return None
        start = self._start
        (length,) = struct.unpack_from(">i", self._data, start + LENGTH_AT)
        self._start = start + BEFORE_LENGTH_COUNTS + length
        return _ReadableBatch(batch, memoryview(self._data)[start : self._start])


class _ReadableBatch:
    """The client's batch but for reading records."""

    def __init__(self, batch: Any, data: memoryview) -> None:
        self._batch = batch
        self._data = data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)

    def __next__(self) -> Any:
        return next(self._batch)

    def __iter__(self) -> Iterator[Any]:
        given = 0
        try:
            for record in self._batch:
                given += 1
                yield record
        except UnicodeDecodeError:
            # Slow, so only from that record on.
            for number, record in enumerate(_escaped(self._data)):
                if number >= given:
                    yield record


class _Escaping(bytearray):
    """Bytes whose parts are decoded with escapes."""

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        return _Escaping(found) if isinstance(found, bytearray) else found

    def decode(self, encoding: str = "utf-8", errors: str = "backslashreplace") -> str:
        return super().decode(encoding, errors)


def _escaped(data: memoryview) -> Iterator[Any]:
    batch: Any = iter(_DefaultRecordBatchPy(data))
    # Unpacked by now. In this form of the client's reader the names are decoded by what the buffer gives.
    batch._buffer = _Escaping(batch._buffer)  # noqa: SLF001
    return iter(batch)


def read_any_header_name() -> None:
    """For all consumers of this process. May be called again."""
    fetcher.MemoryRecords = ReadableRecords

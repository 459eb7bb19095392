"""Header names that are no text: the client's own reader stands still before them, ours passes them on with escapes."""

from __future__ import annotations

from typing import Any

import pytest
from aiokafka.consumer import fetcher
from aiokafka.record.memory_records import MemoryRecords
from eunoe_stream.kafka.header_names import ReadableRecords
from eunoe_stream.kafka.testing import raw_batch

HEADERS = [(b"plain", b"1"), (b"\xff\xfe", b"2"), (b"none", None)]


def data(*, before: int, count: int = 2) -> bytes:
    return bytes(raw_batch(b"k", b"v" * 300, HEADERS, count=count, before=before).build())


def read(records: Any) -> list[Any]:
    found = []
    while records.has_next():
        found.append(list(records.next_batch()))
    return found


def test_the_client_alone_never_gets_past_such_a_record() -> None:
    batch = MemoryRecords(data(before=2)).next_batch()
    assert [next(batch).offset, next(batch).offset] == [0, 1]
    for _ in range(2):
        with pytest.raises(UnicodeDecodeError):
            next(batch)


def test_every_record_of_the_batch_is_given_once_and_the_name_in_escapes() -> None:
    [first, second] = read(ReadableRecords(data(before=3) + data(before=0, count=1)))
    assert [each.offset for each in first] == [0, 1, 2, 3, 4]
    assert [each.offset for each in second] == [0]
    for each in (*first[3:], *second):
        assert list(each.headers) == [("plain", b"1"), ("\\xff\\xfe", b"2"), ("none", None)]
        assert (each.key, each.value) == (b"k", b"v" * 300)
    assert [list(each.headers) for each in first[:3]] == [[], [], []]


def test_what_was_cut_off_waits_for_the_next_fetch() -> None:
    whole = data(before=0)
    records = ReadableRecords(whole + whole[:40])
    assert len(read(records)) == 1
    assert records.next_batch() is None
    assert records.size_in_bytes() == len(whole) + 40


def test_what_the_client_asks_of_a_batch_is_answered() -> None:
    batch = ReadableRecords(data(before=1)).next_batch()
    assert batch.validate_crc()
    assert (batch.base_offset, batch.next_offset, batch.is_control_batch, batch.is_transactional) == (0, 3, False, False)
    assert next(batch).offset == 0


def test_all_consumers_of_the_process_read_so() -> None:
    assert fetcher.MemoryRecords is ReadableRecords

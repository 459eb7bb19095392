from __future__ import annotations

from datetime import UTC, datetime

from eunoe_contracts.events import Record
from eunoe_stream.log import Delivery, TopicPartition
from eunoe_stream.sqlite.tail import Tail

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HERE = TopicPartition("t", 0)


def delivery(offset: int) -> Delivery:
    return Delivery(Record("t", "k", b"", {}), 0, offset, NOON)


def offsets(tail: Tail, start: int, limit: int = 100) -> list[int]:
    return [each.offset for each in tail.read([(HERE, start)], limit)]


def test_reads_from_an_offset_on() -> None:
    tail = Tail()
    tail.add(delivery(offset) for offset in range(5))
    assert offsets(tail, 2) == [2, 3, 4]
    assert offsets(tail, 0, limit=2) == [0, 1]
    assert offsets(tail, 5) == []


def test_never_skips_a_gap() -> None:
    tail = Tail()
    tail.add([delivery(0), delivery(2)])
    assert offsets(tail, 0) == [0]
    assert offsets(tail, 1) == []
    tail.add([delivery(1)])
    assert offsets(tail, 0) == [0, 1, 2]


def test_forgets_the_oldest() -> None:
    tail = Tail(kept=3)
    tail.add(delivery(offset) for offset in range(10))
    assert offsets(tail, 0) == []
    assert offsets(tail, 7) == [7, 8, 9]

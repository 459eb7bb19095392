from __future__ import annotations

from datetime import UTC, datetime

from eunoe_contracts.events import Record
from eunoe_stream.log import Delivery, TopicPartition
from eunoe_stream.sqlite.tail import Tail

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HERE = TopicPartition("t", 0)


def delivery(offset: int, partition: int = 0, value: bytes = b"") -> Delivery:
    return Delivery(Record("t", "k", value, {}), partition, offset, NOON)


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


def test_one_bound_holds_for_all_partitions_together() -> None:
    tail = Tail(kept=10)
    for offset in range(100):
        tail.add(delivery(offset, partition) for partition in range(16))
    kept = [each for partition in range(16) for each in tail.read([(TopicPartition("t", partition), 99)], 100)]
    assert [each.partition for each in kept] == list(range(6, 16))
    assert sum(len(tail.read([(TopicPartition("t", partition), at)], 1)) for partition in range(16) for at in range(100)) == 10


def test_long_values_leave_room_for_fewer() -> None:
    tail = Tail(kept_bytes=100)
    tail.add(delivery(offset, value=bytes(40)) for offset in range(5))
    assert offsets(tail, 2) == []
    assert offsets(tail, 3) == [3, 4]
    tail.add([delivery(5, value=bytes(101))])
    assert offsets(tail, 5) == []

"""The intake between poll loop and runner, and the index of pending keys."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from eunoe_contracts.events import Record
from eunoe_stream.kafka.intake import Intake
from eunoe_stream.kafka.pending import KeyIndex, partition_of
from eunoe_stream.log import Delivery, TopicPartition


def deliveries(partition: int, count: int, first: int = 0) -> list[Delivery]:
    now = datetime.now(UTC)
    return [Delivery(Record("t", "k", b""), partition, first + n, now) for n in range(count)]


def test_a_full_partition_does_not_starve_the_others() -> None:
    intake = Intake()
    for partition, count in ((0, 100), (1, 2), (2, 30)):
        intake.put(deliveries(partition, count))
    found = intake.take(30, frozenset())
    assert len(found) == 30
    assert {each.partition for each in found} == {0, 1, 2}
    seen = [each for _ in range(10) for each in intake.take(30, frozenset())]
    for partition in range(3):
        offsets = [each.offset for each in [*found, *seen] if each.partition == partition]
        assert offsets == list(range(len(offsets))), "in order, and all of them"
    assert len(found) + len(seen) == 132


def test_a_limit_below_the_number_of_partitions_reaches_all_of_them() -> None:
    intake = Intake()
    for partition in range(5):
        intake.put(deliveries(partition, 3))
    assert {each.partition for _ in range(3) for each in intake.take(2, frozenset())} == set(range(5))


def test_paused_partitions_keep_their_records() -> None:
    intake = Intake()
    intake.put(deliveries(0, 3))
    intake.put(deliveries(1, 1))
    paused = {TopicPartition("t", 0)}
    assert [each.partition for each in intake.take(10, paused)] == [1]
    assert intake.waiting(paused) == 0
    assert [each.offset for each in intake.take(10, frozenset())] == [0, 1, 2]


END = 100


@dataclass
class Seen:
    key: bytes | None
    offset: int


def test_the_index_knows_the_last_offset_of_each_key() -> None:
    index = KeyIndex()
    index.begin(5, END)
    assert index.position == 5
    index.add([Seen(b"a", 5), Seen(None, 6), Seen(b"b", 7), Seen(b"a", 8)])
    assert index.position == 9
    assert index.has(b"a", 6)
    assert not index.has(b"b", 8)
    index.begin(9, END)
    assert index.position == 9
    assert not index.has(b"a", 9)


def test_the_index_jumps_with_the_group_and_reads_again_behind_its_floor() -> None:
    index = KeyIndex()
    index.begin(0, END)
    index.add([Seen(b"a", 0)])
    index.begin(10, END)
    assert index.position == 10, "what the group committed need not be read"
    index.begin(0, END)
    assert index.position == 0, "and what was never read may not count as known"


def test_a_partition_that_ends_before_what_was_read_is_a_new_one() -> None:
    index = KeyIndex()
    index.begin(0, 3)
    index.add([Seen(b"gone", 0), Seen(b"gone", 1), Seen(b"gone", 2)])
    index.begin(0, 1)
    assert not index.has(b"gone", 0), "the topic was deleted with its records, and made anew"
    assert index.position == 0


def test_the_index_is_bounded_and_never_skips() -> None:
    index = KeyIndex(most=3)
    index.begin(0, END)
    index.add([Seen(bytes([n]), n) for n in range(6)])
    assert index.is_full
    assert index.position == 3
    index.add([Seen(b"later", 6)])
    assert index.position == 3, "a gap would hide what lies in it"
    index.begin(2, END)
    assert not index.is_full
    index.add([Seen(b"x", 3)])
    assert index.has(b"x", 2)


def test_keys_go_where_the_default_partitioner_puts_them() -> None:
    # Values of Kafka's own test of its hash (UtilsTest.testMurmur2): 21 gives -973932308.
    assert partition_of(b"21", 1000) == (-973932308 & 0x7FFFFFFF) % 1000

"""Statements on records: append, read, count, trim. Each function is the work of one transaction."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from eunoe_contracts.events import Record
from sqlalchemy import Connection

from eunoe_stream.log import Delivery, TopicPartition
from eunoe_stream.shares import partition_of
from eunoe_stream.sqlite.database import raw
from eunoe_stream.sqlite.topic_table import Topic

TRIM_STEP = 2_000


def append(connection: Connection, topics: Mapping[str, Topic], records: Sequence[Record], now: datetime) -> list[Delivery]:
    """Append in the order given; returns them as a reader will get them."""
    driver = raw(connection)
    stamp = now.timestamp()
    groups: dict[tuple[int, int], list[Record]] = defaultdict(list)
    for record in records:
        topic = topics[record.topic]
        groups[topic.id, partition_of(record.key, topic.partitions)].append(record)
    rows: list[tuple[Any, ...]] = []
    deliveries: list[Delivery] = []
    published_at = datetime.fromtimestamp(stamp, UTC)
    for (topic_id, partition), members in groups.items():
        (after,) = driver.execute(
            "INSERT INTO log_partitions (topic_id, partition, first_seq, next_seq) VALUES (?, ?, 0, ?)"
            " ON CONFLICT (topic_id, partition) DO UPDATE SET next_seq = next_seq + excluded.next_seq RETURNING next_seq",
            (topic_id, partition, len(members)),
        ).fetchone()
        for seq, each in enumerate(members, start=after - len(members)):
            rows.append((topic_id, partition, seq, each.key, each.value, json.dumps(dict(each.headers)), stamp))
            deliveries.append(Delivery(each, partition, seq, published_at))
    driver.executemany(
        "INSERT INTO log_records (topic_id, partition, seq, key, value, headers, published_at) VALUES (?, ?, ?, ?, ?, ?, ?)", rows
    )
    return deliveries


def read(connection: Connection, topics: Mapping[str, Topic], wanted: Sequence[tuple[TopicPartition, int]], limit: int) -> list[Delivery]:
    """Records from the given offsets on, partitions in the order given."""
    driver = raw(connection)
    ids = {topics[each.topic].id for each, _ in wanted}
    # One small statement tells which partitions have something; an idle poll ends here.
    heads = {
        (int(row[0]), int(row[1])): int(row[2])
        for row in driver.execute(
            "SELECT topic_id, partition, next_seq FROM log_partitions WHERE topic_id IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(ids)),),
        )
    }
    found: list[Delivery] = []
    for source, offset in wanted:
        topic_id = topics[source.topic].id
        if len(found) >= limit:
            break
        if heads.get((topic_id, source.partition), 0) <= offset:
            continue
        rows = driver.execute(
            "SELECT seq, key, value, headers, published_at FROM log_records"
            " WHERE topic_id = ? AND partition = ? AND seq >= ? ORDER BY seq LIMIT ?",
            (topic_id, source.partition, offset, limit - len(found)),
        )
        found.extend(
            Delivery(
                Record(source.topic, row[1], row[2], json.loads(row[3])),
                source.partition,
                int(row[0]),
                datetime.fromtimestamp(row[4], UTC),
            )
            for row in rows
        )
    return found


def lag(connection: Connection, topic: Topic, group: str) -> int:
    """Records of the topic not committed by the group."""
    return int(
        connection.exec_driver_sql(
            "SELECT COALESCE(SUM(MAX(p.next_seq - MAX(COALESCE(o.next_seq, 0), p.first_seq), 0)), 0) FROM log_partitions AS p"
            " LEFT JOIN log_offsets AS o ON o.group_name = ? AND o.topic_id = p.topic_id AND o.partition = p.partition"
            " WHERE p.topic_id = ?",
            (group, topic.id),
        ).scalar_one()
    )


def oldest(connection: Connection, topic: Topic, group: str) -> datetime | None:
    """When the first record of each partition that the group has not committed was published, the earliest of them."""
    stamp = connection.exec_driver_sql(
        "SELECT MIN(r.published_at) FROM log_partitions AS p"
        " LEFT JOIN log_offsets AS o ON o.group_name = ? AND o.topic_id = p.topic_id AND o.partition = p.partition"
        " JOIN log_records AS r ON r.topic_id = p.topic_id AND r.partition = p.partition"
        " AND r.seq = MAX(COALESCE(o.next_seq, 0), p.first_seq) WHERE p.topic_id = ?",
        (group, topic.id),
    ).scalar()
    return None if stamp is None else datetime.fromtimestamp(stamp, UTC)


def has_pending(connection: Connection, topics: Sequence[Topic], group: str, key: str) -> bool:
    """Whether a record with that key on one of the topics is not committed by the group."""
    row = connection.exec_driver_sql(
        "SELECT 1 FROM log_records AS r"
        " LEFT JOIN log_offsets AS o ON o.group_name = ? AND o.topic_id = r.topic_id AND o.partition = r.partition"
        " WHERE r.key = ? AND r.topic_id IN (SELECT value FROM json_each(?)) AND r.seq >= COALESCE(o.next_seq, 0) LIMIT 1",
        (group, key, json.dumps([each.id for each in topics])),
    ).first()
    return row is not None


def trim(connection: Connection, older_than: datetime) -> int:
    """Delete at most about `TRIM_STEP` records that every group committed and that are older; returns how many."""
    deleted = 0
    floors = connection.exec_driver_sql(
        "SELECT p.topic_id, p.partition, p.first_seq, MIN(o.next_seq) FROM log_partitions AS p"
        " JOIN log_offsets AS o ON o.topic_id = p.topic_id AND o.partition = p.partition GROUP BY p.topic_id, p.partition"
    ).all()
    for topic_id, partition, first, committed in floors:
        if deleted >= TRIM_STEP or committed <= first:
            continue
        last = min(committed, first + TRIM_STEP)
        # Only a prefix may go: offsets stay contiguous although the wall clock may have jumped.
        young = connection.exec_driver_sql(
            "SELECT seq FROM log_records WHERE topic_id = ? AND partition = ? AND seq >= ? AND seq < ? AND published_at >= ?"
            " ORDER BY seq LIMIT 1",
            (topic_id, partition, first, last, older_than.timestamp()),
        ).scalar()
        end = last if young is None else int(young)
        if end > first:
            connection.exec_driver_sql(
                "DELETE FROM log_records WHERE topic_id = ? AND partition = ? AND seq < ?", (topic_id, partition, end)
            )
            connection.exec_driver_sql(
                "UPDATE log_partitions SET first_seq = ? WHERE topic_id = ? AND partition = ?", (end, topic_id, partition)
            )
            deleted += end - first
    return deleted

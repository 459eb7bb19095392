"""Statements on groups: membership, leases, committed offsets. Each function is the work of one transaction."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import Connection

from eunoe_stream.log import TopicPartition
from eunoe_stream.member import Beat
from eunoe_stream.shares import Lease, Step, fair_share, is_live, next_step
from eunoe_stream.sqlite.database import raw
from eunoe_stream.sqlite.topic_table import Topic


def join(connection: Connection, group: str, member: str, topics: Collection[Topic], *, now: float, lease_s: float) -> None:
    """Note the member, and the group's start at offset 0 of each partition; from then on `trim` waits for the group."""
    _register(connection, group, member, [each.name for each in topics], now + lease_s)
    rows = [(group, topic.id, partition) for topic in topics for partition in range(topic.partitions)]
    connection.exec_driver_sql("INSERT OR IGNORE INTO log_offsets (group_name, topic_id, partition, next_seq) VALUES (?, ?, ?, 0)", rows)


def beat(connection: Connection, group: str, member: str, topics: Mapping[str, Topic], *, now: float, lease_s: float) -> Beat:
    """Renew the member and its leases, take what is free of its fair share."""
    _register(connection, group, member, topics, now + lease_s)
    members = _live_members(connection, group, now=now, lease_s=lease_s)
    names = {each.id: each.name for each in topics.values()}
    leases = {
        TopicPartition(names[row[0]], int(row[1])): Lease(str(row[2]), float(row[3]))
        for row in connection.exec_driver_sql("SELECT topic_id, partition, member, expires FROM log_leases WHERE group_name = ?", (group,))
        if row[0] in names
    }
    share = fair_share(member, {each.name: each.partitions for each in topics.values()}, members)
    step = next_step(member, share, leases, now=now, lease_s=lease_s)
    _write_leases(connection, group, member, topics, step, now + lease_s)
    return Beat(_starts(connection, group, names, step.keep | step.take), step.surplus, step.take)


def _register(connection: Connection, group: str, member: str, topics: Iterable[str], expires: float) -> None:
    connection.exec_driver_sql(
        "INSERT OR REPLACE INTO log_members (group_name, member, topics, expires) VALUES (?, ?, ?, ?)",
        (group, member, json.dumps(sorted(topics)), expires),
    )


def _live_members(connection: Connection, group: str, *, now: float, lease_s: float) -> dict[str, frozenset[str]]:
    rows = connection.exec_driver_sql("SELECT member, topics, expires FROM log_members WHERE group_name = ?", (group,)).all()
    dead = [(group, row[0]) for row in rows if not is_live(row[2], now=now, lease_s=lease_s)]
    if dead:
        connection.exec_driver_sql("DELETE FROM log_members WHERE group_name = ? AND member = ?", dead)
    return {row[0]: frozenset(json.loads(row[1])) for row in rows if is_live(row[2], now=now, lease_s=lease_s)}


def _write_leases(connection: Connection, group: str, member: str, topics: Mapping[str, Topic], step: Step, expires: float) -> None:
    connection.exec_driver_sql("UPDATE log_leases SET expires = ? WHERE group_name = ? AND member = ?", (expires, group, member))
    if step.take:
        connection.exec_driver_sql(
            "INSERT OR REPLACE INTO log_leases (group_name, topic_id, partition, member, expires) VALUES (?, ?, ?, ?, ?)",
            [(group, topics[each.topic].id, each.partition, member, expires) for each in sorted(step.take)],
        )


def _starts(connection: Connection, group: str, names: Mapping[int, str], held: frozenset[TopicPartition]) -> dict[TopicPartition, int]:
    rows = connection.exec_driver_sql(
        "SELECT o.topic_id, o.partition, MAX(o.next_seq, COALESCE(p.first_seq, 0)) FROM log_offsets AS o"
        " LEFT JOIN log_partitions AS p ON p.topic_id = o.topic_id AND p.partition = o.partition WHERE o.group_name = ?",
        (group,),
    )
    committed = {TopicPartition(names[row[0]], int(row[1])): int(row[2]) for row in rows if row[0] in names}
    return {each: committed.get(each, 0) for each in sorted(held)}


def commit(connection: Connection, group: str, member: str, topics: Mapping[str, Topic], offsets: Mapping[TopicPartition, int]) -> None:
    """Store offsets where the member still has the lease; never back."""
    raw(connection).executemany(
        "INSERT INTO log_offsets (group_name, topic_id, partition, next_seq)"
        " SELECT group_name, topic_id, partition, ? FROM log_leases"
        " WHERE group_name = ? AND topic_id = ? AND partition = ? AND member = ?"
        " ON CONFLICT (group_name, topic_id, partition) DO UPDATE SET next_seq = MAX(next_seq, excluded.next_seq)",
        [(offset, group, topics[each.topic].id, each.partition, member) for each, offset in sorted(offsets.items())],
    )


def release(connection: Connection, group: str, member: str, topics: Mapping[str, Topic], partitions: frozenset[TopicPartition]) -> None:
    """Give these leases up."""
    connection.exec_driver_sql(
        "DELETE FROM log_leases WHERE group_name = ? AND topic_id = ? AND partition = ? AND member = ?",
        [(group, topics[each.topic].id, each.partition, member) for each in sorted(partitions)],
    )


def leave(connection: Connection, group: str, member: str) -> None:
    """Give all leases and the membership up. May be called twice."""
    connection.exec_driver_sql("DELETE FROM log_leases WHERE group_name = ? AND member = ?", (group, member))
    connection.exec_driver_sql("DELETE FROM log_members WHERE group_name = ? AND member = ?", (group, member))


def release_all(connection: Connection) -> None:
    """Forget every member and lease."""
    connection.exec_driver_sql("DELETE FROM log_leases")
    connection.exec_driver_sql("DELETE FROM log_members")

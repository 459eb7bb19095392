"""Tables of the log. All start with `log_`; the log makes them itself at first use."""

from __future__ import annotations

from sqlalchemy import Connection

STATEMENTS = (
    # Names are long and every record would repeat them.
    "CREATE TABLE IF NOT EXISTS log_topics (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, partitions INTEGER NOT NULL)",
    # `first_seq`: lowest offset still stored; `next_seq`: offset of the next record.
    """CREATE TABLE IF NOT EXISTS log_partitions (
        topic_id INTEGER NOT NULL, partition INTEGER NOT NULL, first_seq INTEGER NOT NULL, next_seq INTEGER NOT NULL,
        PRIMARY KEY (topic_id, partition)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS log_records (
        topic_id INTEGER NOT NULL, partition INTEGER NOT NULL, seq INTEGER NOT NULL,
        key TEXT NOT NULL, value BLOB NOT NULL, headers TEXT NOT NULL, published_at REAL NOT NULL,
        PRIMARY KEY (topic_id, partition, seq)) WITHOUT ROWID""",
    # For `has_pending`, which must not scan a backlog.
    "CREATE INDEX IF NOT EXISTS log_records_by_key ON log_records (key, topic_id)",
    """CREATE TABLE IF NOT EXISTS log_offsets (
        group_name TEXT NOT NULL, topic_id INTEGER NOT NULL, partition INTEGER NOT NULL, next_seq INTEGER NOT NULL,
        PRIMARY KEY (group_name, topic_id, partition)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS log_leases (
        group_name TEXT NOT NULL, topic_id INTEGER NOT NULL, partition INTEGER NOT NULL,
        member TEXT NOT NULL, expires REAL NOT NULL,
        PRIMARY KEY (group_name, topic_id, partition)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS log_members (
        group_name TEXT NOT NULL, member TEXT NOT NULL, topics TEXT NOT NULL, expires REAL NOT NULL,
        PRIMARY KEY (group_name, member)) WITHOUT ROWID""",
)


def create(connection: Connection) -> None:
    """Make what is missing. May be called twice."""
    for statement in STATEMENTS:
        connection.exec_driver_sql(statement)

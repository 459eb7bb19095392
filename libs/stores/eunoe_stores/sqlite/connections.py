"""Connections to one SQLite file, set up the same way everywhere.

Transactions are ours: pysqlite starts none (`isolation_level=None`), so SQLAlchemy's begin sends nothing.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import NullPool

Synchronous = Literal["FULL", "NORMAL"]

BUSY_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Memory:
    """What one connection may hold of the file: pages of its own, and the part that is mapped (which counts for each connection)."""

    cache_kib: int = 16_384
    mapped_bytes: int = 256 * 1024 * 1024


FRUGAL = Memory(cache_kib=4_096, mapped_bytes=0)
"""For a file whose contents are in memory already."""
WAL_PAGES = 4_000
"""Pages in the log before a commit also checkpoints (16 MiB): fewer, longer checkpoints than the default of 1,000."""
WAL_LIMIT_BYTES = 64 * 1024 * 1024
CACHED_STATEMENTS = 512


def writer_engine(path: Path, memory: Memory, *, synchronous: Synchronous) -> Engine:
    """Engine for writing; `GroupCommit` begins the transactions. `FULL` survives loss of power, `NORMAL` a killed process."""
    engine = _engine(path, timeout_s=BUSY_TIMEOUT_S)

    @event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_LIMIT_BYTES}")
        _prepare_any(connection, memory)

    return engine


def loop_engine(path: Path, memory: Memory) -> Engine:
    """Engine for short writes on the event loop: it never waits, neither for a lock nor for the disk."""
    engine = _engine(path, timeout_s=0)

    @event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_LIMIT_BYTES}")
        _prepare_any(connection, memory)

    return engine


def reader_engine(path: Path, memory: Memory) -> Engine:
    """Engine whose connections cannot write; each transaction sees one state of the file."""
    engine = _engine(path, timeout_s=BUSY_TIMEOUT_S)

    @event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, _record: object) -> None:
        _prepare_any(connection, memory)
        connection.execute("PRAGMA query_only = ON")

    return engine


def raw(connection: Connection) -> sqlite3.Connection:
    """The sqlite3 connection below."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)  # noqa: S101 - tells mypy what the creator below made
    return driver


def _prepare_any(connection: sqlite3.Connection, memory: Memory) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA cache_size = -{memory.cache_kib}")
    connection.execute(f"PRAGMA mmap_size = {memory.mapped_bytes}")
    connection.execute("PRAGMA temp_store = MEMORY")
    # Erased means overwritten. Many builds of SQLite do so unasked, not all.
    connection.execute("PRAGMA secure_delete = ON")


def _engine(path: Path, *, timeout_s: float) -> Engine:
    def connect() -> sqlite3.Connection:
        return sqlite3.connect(
            path,
            timeout=timeout_s,
            isolation_level=None,
            check_same_thread=False,  # opened by the constructor, used by one thread, closed by that thread
            cached_statements=CACHED_STATEMENTS,
        )

    # hide_parameters: an error's text must not carry content.
    return create_engine("sqlite+pysqlite://", creator=connect, poolclass=NullPool, hide_parameters=True, query_cache_size=1_500)

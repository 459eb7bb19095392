"""Connections to index.db: little of the file stays in the memory of the process, because what queries need of it is kept in columns."""

from __future__ import annotations

import sqlite3

from sqlalchemy import Connection

from eunoe_stores.sqlite.connections import raw

CACHE_KIB = 4_096


def frugal(connection: Connection) -> sqlite3.Connection:
    """The driver's connection. It neither maps the file, which would count once for each connection, nor caches much of it."""
    driver = raw(connection)
    driver.execute("PRAGMA mmap_size = 0")
    driver.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return driver

"""Old pages in the write-ahead log, in which what was deleted can be read until they are written over.

In the file itself nothing is left: every connection that writes has `secure_delete` on, which overwrites what it deletes.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection

from eunoe_stores.sqlite.errors import mapped
from eunoe_stores.sqlite.port import Database

WAIT_S = 0.2
"""How long writers may have to wait for running readers."""


async def drop_old_pages(database: Database) -> bool:
    """Fold the log into the file and empty it. False when somebody was in the way; then try again later. May be called twice.

    True at once for a database that has no such log. Raises `StoreUnavailable`, `StorageFull`.
    """
    path = await database.read(_file_of)
    return path is None or await asyncio.to_thread(_truncate, path)


def _file_of(connection: Connection) -> Path | None:
    if connection.dialect.name != "sqlite":
        return None
    # The first is the file itself, the others are temporary tables. A database in memory has no path, or a name in its place.
    path = Path(str(connection.exec_driver_sql("PRAGMA database_list").all()[0][2]))
    return path if path.is_absolute() else None


def _truncate(path: Path) -> bool:
    try:
        # A connection of its own: inside a transaction, which is all that the others know, no checkpoint can run.
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=WAIT_S, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy
    except sqlite3.Error as error:
        raise mapped(error) from error

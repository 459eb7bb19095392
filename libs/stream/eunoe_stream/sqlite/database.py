"""What the log needs of the shared SQLite file; equal to `eunoe_stores.sqlite.port.Database`, which this library may not import."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Protocol, TypeVar

from sqlalchemy import Connection

T = TypeVar("T")


def raw(connection: Connection) -> sqlite3.Connection:
    """The sqlite3 connection below: the log's statements are short, and SQLAlchemy's own cost would be several times theirs."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)  # noqa: S101 - the log is written for SQLite only
    return driver


class Database(Protocol):
    """A SQL database. The functions given run in a thread, in a transaction, and must not keep the connection."""

    async def write(self, work: Callable[[Connection], T], *, durable: bool = True, quick: bool = False) -> T:
        """Run `work` in a write transaction; returns when it is committed; a commit that is not durable may be missing after a loss of
        power, with all after it. `work` may run twice.
        """
        ...

    async def read(self, work: Callable[[Connection], T], *, quick: bool = False) -> T:
        """Run `work` in a read transaction; a quick one looks a few rows up by their keys and may run on the event loop."""
        ...

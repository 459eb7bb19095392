"""How adapters on one SQLite file share it: one writer thread with group commit, a pool of readers.

`eunoe_stream.sqlite` and the embedded GraphStore and Catalogue all write through the same `Database`, so that one
process has one writer per file. On PostgreSQL the Catalogue gets a `Database` over an engine with a connection pool.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from sqlalchemy import Connection

T = TypeVar("T")
FEW_ROWS = 256
"""As many rows as a quick work may look up or write."""


class Database(Protocol):
    """A SQL database. The functions given run in a thread, in a transaction, and must not keep the connection."""

    async def write(self, work: Callable[[Connection], T], *, durable: bool = True, quick: bool = False) -> T:
        """Run `work` in a write transaction; returns when it is committed.

        A durable commit survives a loss of power, and so does every commit before it. One that is not survives a killed process;
        after a loss of power the newest of them may be missing, as if they had not happened yet: for work that is done again then.

        Works that wait together share one commit (group commit); one that raises is rolled back alone. Raises what `work`
        raises, `StorageFull` when the disk is full, `StoreUnavailable` otherwise. `work` may run twice, so it must not have
        effects outside the connection.
        """
        ...

    async def read(self, work: Callable[[Connection], T], *, quick: bool = False) -> T:
        """Run `work` in a read transaction on a pooled connection.

        A quick one looks a few rows up by their keys. It may run on the event loop: a change of thread would cost more than it does.
        """
        ...

    async def sync(self) -> None:
        """Return when every commit that returned before survives a loss of power. Raises `StorageFull` or `StoreUnavailable`."""
        ...

    async def close(self) -> None:
        """Finish what waits, then close. May be called twice."""
        ...

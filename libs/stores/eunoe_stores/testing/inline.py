"""`Database` without threads or files: every work runs at once on one connection in memory. For simulations."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.pool import StaticPool

T = TypeVar("T")


class InlineDatabase:
    """Works run one after the other, each in a transaction, as on the writer thread of the real one, but in a fixed order.

    Opening one costs more than most tests; `save` and `load` make a fresh one of it again in no time.
    """

    def __init__(self) -> None:
        self.raw = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, cached_statements=512)
        self._engine = create_engine("sqlite+pysqlite://", creator=lambda: self.raw, poolclass=StaticPool, query_cache_size=1_500)
        event.listen(self._engine, "begin", lambda _: self.raw.execute("BEGIN"))
        self._connection = self._engine.connect()

    async def write(self, work: Callable[[Connection], T], *, durable: bool = True, quick: bool = False) -> T:  # noqa: ARG002 - nothing outlives the process
        """See `Database.write`."""
        await asyncio.sleep(0)
        with self._connection.begin():
            return work(self._connection)

    async def read(self, work: Callable[[Connection], T], *, quick: bool = False) -> T:  # noqa: ARG002 - there is one thread only
        """See `Database.read`."""
        await asyncio.sleep(0)
        with self._connection.begin():
            return work(self._connection)

    async def sync(self) -> None:
        """See `Database.sync`: nothing outlives the process."""
        await asyncio.sleep(0)

    def save(self) -> bytes:
        """The whole database."""
        return self.raw.serialize()

    def load(self, saved: bytes) -> None:
        """Go back to what was saved."""
        self.raw.deserialize(saved)

    async def close(self) -> None:
        """Nothing is open that others could need. May be called twice."""

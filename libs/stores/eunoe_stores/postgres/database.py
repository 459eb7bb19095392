"""`Database` on PostgreSQL: a pool of connections and as many threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from eunoe_contracts.errors import StoreUnavailable
from sqlalchemy import Connection, Engine

from eunoe_stores.postgres import attempts
from eunoe_stores.postgres.calls import Call
from eunoe_stores.postgres.old_versions import drop_old_versions

T = TypeVar("T")
VACUUM_S = 3600.0


class PostgresDatabase:
    """Each work is a transaction of its own, on a connection of the pool, in a thread. May be used from any event loop.

    Writers run at the same time, here and in other processes, in READ COMMITTED: a work that reads before it writes locks what it reads
    (`catalogue.sql.locks`). Works that PostgreSQL rolls back in favour of others run again. A read sees one state of the database
    (REPEATABLE READ, READ ONLY) and is never rolled back for others. Every commit is durable when `write` returns, asked for or not: an
    asynchronous commit would be lost by a killed server, not only by a loss of power. `quick` makes no difference.
    """

    def __init__(self, engine: Engine, *, threads: int, call_timeout_s: float, attempts: int) -> None:
        self._engine = engine
        self._writes = engine.execution_options(isolation_level="READ COMMITTED")
        self._reads = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self._by_itself = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="postgres")
        self._call_timeout_s = call_timeout_s
        self._attempts = attempts
        self._is_closed = False

    async def write(self, work: Callable[[Connection], T], *, durable: bool = True, quick: bool = False) -> T:  # noqa: ARG002 - see the class
        """See `Database.write`. `StoreUnavailable` may mean that the commit happened and its answer was lost."""
        return await self._in_thread(partial(attempts.run, self._writes, work, attempts=self._attempts), self._call_timeout_s)

    async def read(self, work: Callable[[Connection], T], *, quick: bool = False) -> T:  # noqa: ARG002 - see the class
        """See `Database.read`. It sees every write that had returned before this call."""
        return await self._in_thread(partial(attempts.run, self._reads, work, attempts=self._attempts), self._call_timeout_s)

    async def sync(self) -> None:
        """See `Database.sync`: every commit that has returned is durable."""
        self._check_open()

    async def drop_old_versions(self, tables: Sequence[str]) -> bool:
        """Take away what was deleted or overwritten in these tables; false when somebody may still look at it, then try again later."""
        return await self._in_thread(partial(attempts.in_own_words, partial(drop_old_versions, self._by_itself, tables)), VACUUM_S)

    async def close(self) -> None:
        """See `Database.close`. Later calls of `write` and `read` raise `StoreUnavailable`."""
        self._is_closed = True
        await asyncio.to_thread(self._threads.shutdown)
        self._engine.dispose()

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreUnavailable("the database is closed")

    async def _in_thread(self, running: Callable[[Call], T], timeout_s: float) -> T:
        self._check_open()
        call = Call()
        try:
            async with asyncio.timeout(timeout_s):
                return await asyncio.get_running_loop().run_in_executor(self._threads, running, call)
        except TimeoutError:
            call.give_up()
            raise StoreUnavailable("the database did not answer in time") from None

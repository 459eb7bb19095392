"""Reads and writes with an end: every call has a time-out, tries again what may be tried again, and raises errors of our tree."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

from eunoe_contracts.errors import InternalError, StoreUnavailable
from neo4j import READ_ACCESS, AsyncDriver, AsyncManagedTransaction, AsyncResult, Query, unit_of_work
from neo4j.exceptions import DriverError, Neo4jError

from eunoe_stores.graph.neo4j.config import Neo4jSettings
from eunoe_stores.graph.neo4j.errors import RaceLost, is_race, mapped

T = TypeVar("T")
DIALECT = "CYPHER 5 "
"""Statements are written in this version of the language; newer servers may have another as default."""

_READS = 3
_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 1.0
_LONGEST_QUEUE_S = 20.0
"""Well within the deadline of a handler, so that what ends there is known as an outage."""


class Ask(Protocol):
    """Run one statement that returns nothing, or one list. Values come as parameters, never in the text.

    The driver needs some .3 ms for a row, however short, and next to nothing for an element of a list: so a statement collects its rows.
    """

    async def __call__(self, text: str, /, **parameters: Any) -> list[Any]:
        """The list; empty when nothing is returned."""
        ...


class Transactions:
    """The only place that talks to the driver once it is open."""

    def __init__(self, driver: AsyncDriver, settings: Neo4jSettings) -> None:
        self._driver = driver
        self._settings = settings
        # Waiting for one's turn takes no time from the time-out. Hundreds of writes at once would hold each other's locks until all of
        # them had run out of time.
        self._writes = asyncio.Semaphore(settings.writes_at_once)
        self._reads = asyncio.Semaphore(settings.pool_size - settings.writes_at_once)

    async def read(self, work: Callable[[Ask], Awaitable[T]]) -> T:
        """The result of `work`, each of whose statements is a transaction of its own. Raises `StoreUnavailable`, `DeadlineExceeded`."""
        async with _turn(self._reads), self._within(self._settings.read_timeout_s):
            for left in reversed(range(_READS)):
                try:
                    return await self._read_once(work)
                except (DriverError, Neo4jError) as error:
                    # The first failure may be that of a connection to a server that was restarted since; then the pool has dropped it.
                    if not left or not error.is_retryable():
                        raise
                await asyncio.sleep(_pause_s(_READS - left))
        raise AssertionError  # pragma: no cover - the loop returns or raises

    async def write(self, work: Callable[[Ask], Awaitable[T]]) -> T:
        """The result of `work`, all of whose statements are one transaction. `work` may run several times and must not mind.

        Raises `StoreUnavailable`, `DeadlineExceeded`. After an error the outcome is unknown: the caller writes the same again.
        """

        @unit_of_work(timeout=self._settings.write_timeout_s)
        async def once(transaction: AsyncManagedTransaction) -> T:
            async def ask(text: str, /, **parameters: Any) -> list[Any]:
                return await _collected(transaction.run(DIALECT + text, parameters))

            return await work(ask)

        async with _turn(self._writes), self._within(self._settings.write_timeout_s):
            races = 0
            while True:
                try:
                    async with self._driver.session(database=self._settings.database) as session:
                        return await session.execute_write(once)
                except (Neo4jError, RaceLost) as error:
                    if not is_race(error):
                        raise
                races += 1
                await asyncio.sleep(_pause_s(races))
        raise AssertionError  # pragma: no cover - the loop returns or raises

    async def _read_once(self, work: Callable[[Ask], Awaitable[T]]) -> T:
        async with self._driver.session(database=self._settings.database, default_access_mode=READ_ACCESS) as session:

            async def ask(text: str, /, **parameters: Any) -> list[Any]:
                query = Query(DIALECT + text, timeout=self._settings.read_timeout_s)
                return await _collected(session.run(query, parameters))

            return await work(ask)

    @asynccontextmanager
    async def _within(self, seconds: float) -> AsyncIterator[None]:
        # An open connection to a server that stands still would wait without end; cancelling the driver closes it.
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError as error:
            raise StoreUnavailable(f"the graph did not answer within {seconds:g} s") from error
        except (DriverError, Neo4jError, OSError) as error:
            raise mapped(error) from error


@asynccontextmanager
async def _turn(places: asyncio.Semaphore) -> AsyncIterator[None]:
    """One of the places. Raises `StoreUnavailable`: with the graph away, those before us keep theirs until they run out of time."""
    try:
        async with asyncio.timeout(_LONGEST_QUEUE_S):
            await places.acquire()
    except TimeoutError as error:
        raise StoreUnavailable("the graph is too busy") from error
    try:
        yield
    finally:
        places.release()


async def _collected(running: Awaitable[AsyncResult]) -> list[Any]:
    try:
        result = await running
    except (ValueError, TypeError, OverflowError) as error:
        raise InternalError(f"the graph cannot store a value ({type(error).__name__})") from error
    found: list[Any] = []
    for (each,) in await result.values():
        found += each
    return found


def _pause_s(tries: int) -> float:
    # Drawn, so that two that met do not meet again.
    return random.uniform(0.5, 1.0) * min(_LONGEST_PAUSE_S, _PAUSE_S * 2.0**tries)  # noqa: S311 - no secret

"""Calls that wait together run as one work: the ledger is asked twice per stage of every document, mostly for many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from threading import Lock
from typing import Any, Generic, TypeVar
from uuid import UUID

from sqlalchemy import Connection

Request = TypeVar("Request")
CHUNK = 500
"""Ids in one statement; SQLite and PostgreSQL bound the number of parameters."""
Work = Callable[[Connection], Sequence[Any]]


class _Batch(Generic[Request]):
    """Requests that go together; `results` is the run of all of them."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.results: asyncio.Future[Sequence[Any]]


class Together(Generic[Request]):
    """Collects requests until the database starts with them. Use it from one event loop only.

    The order of requests is kept. A request that raises fails all of its batch, so it must raise only for the store's own errors.
    """

    def __init__(
        self,
        run: Callable[[Work], Awaitable[Sequence[Any]]],
        work: Callable[[Connection, Sequence[Request]], Sequence[Any]],
    ) -> None:
        self._run = run
        self._work = work
        self._lock = Lock()  # the batch is closed by the database's thread
        self._open: _Batch[Request] | None = None

    async def call(self, request: Request) -> Any:
        """The result of this request, committed. Cancelling the caller cancels nobody else's request, nor this one."""
        with self._lock:
            batch = self._open
            is_new = batch is None
            if batch is None:
                batch = self._open = _Batch()
            position = len(batch.requests)
            batch.requests.append(request)
        if is_new:
            batch.results = asyncio.ensure_future(self._run(lambda connection: self._start(connection, batch)))
            batch.results.add_done_callback(_retrieve)
        return (await asyncio.shield(batch.results))[position]

    def _start(self, connection: Connection, batch: _Batch[Request]) -> Sequence[Any]:
        with self._lock:
            if self._open is batch:
                self._open = None
        return self._work(connection, batch.requests)


def _retrieve(results: asyncio.Future[Sequence[Any]]) -> None:
    # Every caller gets the error; when all were cancelled nobody does, and asyncio must not complain about that.
    if not results.cancelled():
        results.exception()


def chunks(ids: Iterable[UUID]) -> list[list[UUID]]:
    """Distinct ids in lists that fit one statement."""
    distinct = list(dict.fromkeys(ids))
    return [distinct[start : start + CHUNK] for start in range(0, len(distinct), CHUNK)]

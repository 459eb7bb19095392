"""Calls that wait together run as one work: the ledger is asked twice per stage of every document, mostly for many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar
from uuid import UUID

from sqlalchemy import Connection

Request = TypeVar("Request")
MOST = 256
"""Requests in one batch: bounds the time the first of them waits."""
CHUNK = 500
"""Ids in one statement; SQLite and PostgreSQL bound the number of parameters."""
Work = Callable[[Connection], Sequence[Any]]


class Together(Generic[Request]):
    """While one batch is on its way, later requests wait and go together; nobody waits for a timer. Use it from one event loop only.

    The order of requests is kept, and a request sees everything that had returned before it was made. A request that raises fails all
    of its batch, so it must raise only for the store's own errors.
    """

    def __init__(
        self,
        run: Callable[[Work], Awaitable[Sequence[Any]]],
        work: Callable[[Connection, Sequence[Request]], Sequence[Any]],
    ) -> None:
        self._run = run
        self._work = work
        self._waiting: list[tuple[Request, asyncio.Future[Any]]] = []
        self._sender: asyncio.Task[None] | None = None

    async def call(self, request: Request) -> Any:
        """The result of this request, committed. Cancelling the caller cancels nobody else's request, nor this one."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._sender is None or self._sender.done():
            self._sender = asyncio.create_task(self._send(), name="together")
        return await future

    async def _send(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            requests = [request for request, _ in batch]
            try:
                results = await self._run(partial(self._start, requests=requests))
            except BaseException as error:
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error) if isinstance(error, Exception) else future.cancel()
                if not isinstance(error, Exception):
                    raise
            else:
                for (_, future), result in zip(batch, results, strict=True):
                    if not future.done():
                        future.set_result(result)

    def _start(self, connection: Connection, *, requests: Sequence[Request]) -> Sequence[Any]:
        return self._work(connection, requests)


def chunks(ids: Iterable[UUID]) -> list[list[UUID]]:
    """Distinct ids in lists that fit one statement."""
    distinct = list(dict.fromkeys(ids))
    return [distinct[start : start + CHUNK] for start in range(0, len(distinct), CHUNK)]

"""Works that wait for a database thread, and the way their results go back to the event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection


@dataclass(slots=True)
class Waiting:
    """One work with the future its caller awaits."""

    work: Callable[[Connection], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop
    durable: bool = False
    forget: Callable[[], None] | None = None
    """Ends the snapshot of the loop's quick reads, so that the caller's next one sees what it wrote."""
    result: Any = None
    error: BaseException | None = None

    def run(self, connection: Connection) -> None:
        """Run the work and keep its result; raises what it raises."""
        self.error = None
        self.result = self.work(connection)


def wanted(batch: Iterable[Waiting]) -> list[Waiting]:
    """Those whose caller still waits."""
    return [waiting for waiting in batch if not waiting.future.cancelled()]


def deliver(batch: Iterable[Waiting]) -> None:
    """Hand the results to their callers with one wake-up for each event loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Waiting]] = {}
    for waiting in batch:
        by_loop.setdefault(waiting.loop, []).append(waiting)
    for loop, waitings in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
            loop.call_soon_threadsafe(resolve, waitings)


def resolve(batch: Iterable[Waiting]) -> None:
    """Hand the results over; on the event loop's thread."""
    for waiting in batch:
        if waiting.future.done():
            continue
        if waiting.forget is not None:
            waiting.forget()
        if waiting.error is None:
            waiting.future.set_result(waiting.result)
        else:
            waiting.future.set_exception(waiting.error)

"""The order in which changes of an index file are committed and reach the memory.

Changes that come while others are written wait, and share the next transaction: rows of fifty short texts cost an eighth of what fifty
transactions do. There is one transaction at a time, so memory follows the file in the order of commits.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from eunoe_stores.sqlite.connections import raw
from eunoe_stores.sqlite.port import Database
from eunoe_stores.vectors.sqlite import writes
from eunoe_stores.vectors.sqlite.entries import Entry
from eunoe_stores.vectors.sqlite.space import give_back
from eunoe_stores.vectors.sqlite.writes import Change

Owner = TypeVar("Owner")
Work: TypeAlias = Callable[[sqlite3.Connection], Change]
FEW_ROWS = 2
"""Rows that are written on the event loop: a change of thread would take longer."""
MOST_ROWS = 2_000
"""Rows of one transaction, so that the first of them does not wait long."""


@dataclass(slots=True)
class _Waiting(Generic[Owner]):
    """One caller's change of its owner's rows: entries to insert or replace, or any other work."""

    owner: Owner
    number: int
    work: Work | Sequence[Entry]
    done: asyncio.Future[Change]

    def rows(self) -> int:
        return 1 if callable(self.work) else len(self.work)


class WriteLane(Generic[Owner]):
    """Use it from one event loop. `applied` brings the memory of an owner up to date after each commit."""

    def __init__(self, database: Database, applied: Callable[[Owner, Change], Awaitable[None]]) -> None:
        self._database = database
        self._applied = applied
        self._queue: list[_Waiting[Owner]] = []
        self._drain: asyncio.Task[None] | None = None

    async def submit(self, owner: Owner, number: int, work: Work | Sequence[Entry]) -> Change:
        """Commit, then apply; returns when both are done. Of entries that shared a transaction the change is that of all of them.

        A caller that is cancelled leaves its change to be done: memory and file stay equal.
        """
        loop = asyncio.get_running_loop()
        waiting = _Waiting(owner, number, work, loop.create_future())
        self._queue.append(waiting)
        if self._drain is None or self._drain.done():
            self._drain = loop.create_task(self._run(), name="index-writes")
        return await waiting.done

    async def settled(self) -> None:
        """Wait until every change given so far is applied, or has failed."""
        while self._drain is not None and not self._drain.done():
            await asyncio.wait([self._drain])

    async def _run(self) -> None:
        while self._queue:
            await self._commit(self._next())

    def _next(self) -> list[_Waiting[Owner]]:
        taken = rows = 0
        while taken < len(self._queue) and (not taken or rows + self._queue[taken].rows() <= MOST_ROWS):
            rows += self._queue[taken].rows()
            taken += 1
        batch, self._queue = self._queue[:taken], self._queue[taken:]
        return batch

    async def _commit(self, batch: list[_Waiting[Owner]]) -> None:
        groups = _grouped(batch)
        try:
            changes = await self._database.write(
                lambda connection: _written(raw(connection), groups), quick=sum(each.rows() for each in batch) <= FEW_ROWS
            )
        except Exception as error:  # noqa: BLE001 - it goes to the caller
            if len(batch) > 1:
                # One of them failed, and nobody knows which: each alone, in the same order.
                for each in batch:
                    await self._commit([each])
            elif not batch[0].done.done():
                batch[0].done.set_exception(error)
            return
        for group, change in zip(groups, changes, strict=True):
            await self._apply(group, change)

    async def _apply(self, group: list[_Waiting[Owner]], change: Change) -> None:
        try:
            await self._applied(group[0].owner, change)
        except Exception as error:  # noqa: BLE001 - it goes to the callers
            for each in group:
                if not each.done.done():
                    each.done.set_exception(error)
            return
        for each in group:
            if not each.done.done():
                each.done.set_result(change)


def _grouped(batch: Sequence[_Waiting[Owner]]) -> list[list[_Waiting[Owner]]]:
    """Neighbours that insert rows of the same owner together; every other work alone."""
    groups: list[list[_Waiting[Owner]]] = []
    for each in batch:
        before = groups[-1][0] if groups else None
        if before is not None and before.number == each.number and not callable(before.work) and not callable(each.work):
            groups[-1].append(each)
        else:
            groups.append([each])
    return groups


def _written(driver: sqlite3.Connection, groups: Sequence[Sequence[_Waiting[Owner]]]) -> list[Change]:
    changes = []
    for group in groups:
        work = group[0].work
        if callable(work):
            changes.append(work(driver))
        else:
            # Of rows with the same key the last one counts.
            entries = {entry.key: entry for each in group if not callable(each.work) for entry in each.work}
            changes.append(writes.upsert(driver, group[0].number, list(entries.values())))
    if any(change.removed for change in changes):
        give_back(driver)
    return changes

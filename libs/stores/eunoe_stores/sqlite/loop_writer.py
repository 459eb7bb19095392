"""Short writes on the event loop's own thread: a change of thread costs more than they do, and waits for the interpreter's lock."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3

from sqlalchemy import Engine

from eunoe_stores.sqlite.connections import WAL_PAGES, raw
from eunoe_stores.sqlite.group_commit import GroupCommit
from eunoe_stores.sqlite.log_sync import LogSync
from eunoe_stores.sqlite.waiting import Waiting, resolve, wanted
from eunoe_stores.sqlite.writer import Writer, checkpointed

MOST_COMMITS = 1_000
"""Commits after which the loop folds the log itself, however much there is."""
CHECKPOINT_EVERY_S = 0.5
"""While short writes go on, the log is folded into the file that often, in the writer's thread."""


class LoopWriter:
    """Works given in one pass of the event loop share a commit. While the writer's thread has work they queue up there.

    Commits here do not wait for the disk; whoever asked for a durable one is told once the log was synced after it, which makes it,
    and all before it, as durable as `synchronous = FULL` does (https://sqlite.org/wal.html, https://sqlite.org/pragma.html).
    """

    def __init__(self, engine: Engine, writer: Writer, sync: LogSync | None) -> None:
        self._connection = engine.connect()
        self._commit = GroupCommit(self._connection)
        self._writer = writer
        self._sync = sync
        self._waiting: list[Waiting] = []
        self._is_closed = False
        self._commits = 0
        self._timer: asyncio.TimerHandle | None = None

    def put(self, waiting: Waiting) -> None:
        """Run this work in the next pass of the event loop."""
        if not self._waiting:
            waiting.loop.call_soon(self.flush)
        self._waiting.append(waiting)

    def flush(self) -> None:
        """Run what waits. May be called twice."""
        batch, self._waiting = wanted(self._waiting), []
        if not batch:
            return
        if not self._writer.is_free or not self._begun():
            for each in batch:
                self._writer.put(each)
            return
        self._commit.finish(batch)
        self._commits += 1
        if self._commits >= MOST_COMMITS:
            self._finish_checkpoint()  # the writer's thread gets no time; the log must not grow for ever
        self._checkpoint_later(batch[0].loop)
        durable = [each for each in batch if each.durable and each.error is None] if self._sync is not None else []
        if self._sync is not None and durable:
            self._sync.put(durable)
        resolve([each for each in batch if not (each.durable and each.error is None)] if durable else batch)

    def close(self) -> None:
        """Run what waits and close the connection."""
        self.flush()
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._connection.close()

    def _begun(self) -> bool:
        try:
            self._commit.begin()
        except sqlite3.OperationalError:
            return False  # somebody else has the write lock; the writer's thread can wait for it
        return True

    def _checkpoint_later(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer is None:
            self._timer = loop.call_later(CHECKPOINT_EVERY_S, self._checkpoint, loop)

    def _checkpoint(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None

        def then(pages: int) -> None:
            if pages >= WAL_PAGES:
                with contextlib.suppress(RuntimeError):  # the loop was closed
                    loop.call_soon_threadsafe(self._finish_checkpoint)

        self._writer.checkpoint_soon(then)

    def _finish_checkpoint(self) -> None:
        # What was written meanwhile. Only when all of the log is folded does SQLite begin it anew; while writes go on without a pause, no
        # other thread would ever find it so, and it would grow without end.
        if not self._is_closed and self._writer.is_free:
            self._commits = 0
            checkpointed(raw(self._connection))

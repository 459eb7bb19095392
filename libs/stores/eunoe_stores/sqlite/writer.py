"""The thread that writes: for long works, and for what waits while one runs."""

from __future__ import annotations

import queue
import sqlite3
from collections.abc import Callable
from threading import Thread

from sqlalchemy import Engine

from eunoe_stores.sqlite.connections import Synchronous, raw
from eunoe_stores.sqlite.group_commit import GroupCommit
from eunoe_stores.sqlite.waiting import Waiting, deliver, wanted

MAX_BATCH = 256
"""Works in one commit: bounds the time the first of them waits."""


class Writer(Thread):
    """Drains its queue until it reads None, then closes its connection.

    `is_free` is false while something waits or runs here; ask it, and put, from one thread only.
    """

    def __init__(self, engine: Engine, name: str, synchronous: Synchronous) -> None:
        super().__init__(name=name, daemon=True)
        self._queue: queue.SimpleQueue[Waiting | Callable[[], None] | None] = queue.SimpleQueue()
        self._connection = engine.connect()
        self._commit = GroupCommit(self._connection)
        self._synchronous, self._strictest = synchronous, synchronous
        self._given, self._taken = 0, 0

    @property
    def is_free(self) -> bool:
        """True when nothing waits or runs here, so that the write lock is not held by this thread."""
        return self._given == self._taken

    def put(self, waiting: Waiting) -> None:
        """Run this work soon."""
        self._given += 1
        self._queue.put(waiting)

    def checkpoint_soon(self, then: Callable[[int], None]) -> None:
        """Move the log's pages into the file; writers and readers need not wait for it. `then` gets the log's length in pages, in this
        thread.
        """
        self._queue.put(lambda: then(self._checkpoint()))

    def end(self) -> None:
        """Finish what waits, then close."""
        self._queue.put(None)

    def run(self) -> None:
        """Body of the thread."""
        open_ = True
        while open_:
            batch, open_ = self._next_batch()
            if batch:
                self._commit_together(batch)
        self._connection.close()

    def _next_batch(self) -> tuple[list[Waiting], bool]:
        batch: list[Waiting] = []
        following = self._queue.get()
        while following is not None:
            if isinstance(following, Waiting):
                batch.append(following)
            else:
                following()
            if len(batch) >= MAX_BATCH:
                return batch, True
            try:
                following = self._queue.get_nowait()
            except queue.Empty:
                return batch, True
        return batch, False

    def _commit_together(self, batch: list[Waiting]) -> None:
        doing = wanted(batch)
        if doing:
            try:
                self._sync_as_asked(doing)
            except sqlite3.Error as error:
                for waiting in doing:
                    waiting.error = error
            else:
                self._commit.run(doing)
        self._taken += len(batch)
        deliver(doing)

    def _sync_as_asked(self, batch: list[Waiting]) -> None:
        """Wait for the disk only where a caller asked for it; the commits before are then on the disk too."""
        wanted_now: Synchronous = self._strictest if any(each.durable for each in batch) else "NORMAL"
        if wanted_now != self._synchronous:
            raw(self._connection).execute(f"PRAGMA synchronous = {wanted_now}")
            self._synchronous = wanted_now

    def _checkpoint(self) -> int:
        return checkpointed(raw(self._connection))


def checkpointed(driver: sqlite3.Connection) -> int:
    """Fold what can be folded without making anybody wait; returns the pages in the log, 0 when it could not be done."""
    try:
        _, pages, _ = driver.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    except sqlite3.OperationalError:
        return 0  # a reader was in the way, or the disk is full: a later one does it
    return int(pages)

"""The one thread that writes: works that wait together share one commit (group commit)."""

from __future__ import annotations

import contextlib
import queue
import sqlite3
from threading import Thread

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from eunoe_stores.sqlite.connections import Synchronous, raw
from eunoe_stores.sqlite.errors import mapped
from eunoe_stores.sqlite.waiting import Waiting, deliver, wanted

MAX_BATCH = 256
"""Works in one commit: bounds the time the first of them waits."""
IDLE_S = 0.5
"""After this long without work the log is checkpointed, so that a busy time rarely has to."""


class Writer(Thread):
    """Drains its queue until it reads None, then closes its connection."""

    def __init__(self, engine: Engine, name: str, synchronous: Synchronous) -> None:
        super().__init__(name=name, daemon=True)
        self.queue: queue.SimpleQueue[Waiting | None] = queue.SimpleQueue()
        self._connection = engine.connect()
        self._dirty = False
        self._synchronous, self._strictest = synchronous, synchronous

    def run(self) -> None:
        """Body of the thread."""
        open_ = True
        while open_:
            batch, open_ = self._next_batch()
            if batch:
                self._commit_together(batch)
                deliver(batch)
        self._connection.close()

    def _next_batch(self) -> tuple[list[Waiting], bool]:
        try:
            first = self.queue.get(timeout=IDLE_S if self._dirty else None)
        except queue.Empty:
            self._checkpoint()
            return [], True
        batch: list[Waiting] = []
        following = first
        while following is not None:
            batch.append(following)
            if len(batch) >= MAX_BATCH:
                return wanted(batch), True
            try:
                following = self.queue.get_nowait()
            except queue.Empty:
                return wanted(batch), True
        return wanted(batch), False

    def _commit_together(self, batch: list[Waiting]) -> None:
        self._dirty = True
        try:
            self._sync_as_asked(batch)
            self._connection.begin()
            for waiting in batch:
                if not _run_in_savepoint(self._connection, waiting):
                    break
            else:
                self._connection.commit()
                return
        except BaseException as error:  # noqa: BLE001 - begin or commit failed: every caller gets it
            self._roll_back()
            for waiting in batch:
                waiting.error = waiting.error or mapped(error)
            return
        # SQLite ended the whole transaction on one work's error (a full disk may do that): the others run again, each alone.
        self._roll_back()
        for waiting in batch:
            if waiting.error is None:
                self._commit_alone(waiting)

    def _sync_as_asked(self, batch: list[Waiting]) -> None:
        """Wait for the disk only where a caller asked for it; the commits before are then on the disk too."""
        wanted_now: Synchronous = self._strictest if any(each.durable for each in batch) else "NORMAL"
        if wanted_now != self._synchronous:
            raw(self._connection).execute(f"PRAGMA synchronous = {wanted_now}")
            self._synchronous = wanted_now

    def _commit_alone(self, waiting: Waiting) -> None:
        try:
            self._sync_as_asked([waiting])
            self._connection.begin()
            waiting.run(self._connection)
            self._connection.commit()
        except BaseException as error:  # noqa: BLE001 - it goes to the caller
            self._roll_back()
            waiting.error = mapped(error)

    def _roll_back(self) -> None:
        # SQLite may have rolled back itself, which SQLAlchemy does not know; after a failed COMMIT it is the other way round.
        driver = raw(self._connection)
        with contextlib.suppress(SQLAlchemyError):
            self._connection.rollback()
        if driver.in_transaction:
            driver.execute("ROLLBACK")

    def _checkpoint(self) -> None:
        self._dirty = False
        try:
            raw(self._connection).execute("PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.OperationalError:
            self._dirty = True  # a reader was in the way, or the disk is full: the next idle time tries again


def _run_in_savepoint(connection: Connection, waiting: Waiting) -> bool:
    """False when the transaction is gone. Savepoints are sent to the driver: SQLAlchemy's would cost more than most works."""
    driver = raw(connection)
    driver.execute("SAVEPOINT work")
    try:
        waiting.run(connection)
    except BaseException as error:  # noqa: BLE001 - it goes to the caller
        waiting.error = mapped(error)
        if not driver.in_transaction:
            return False
        driver.execute("ROLLBACK TO work")
    driver.execute("RELEASE work")
    return True

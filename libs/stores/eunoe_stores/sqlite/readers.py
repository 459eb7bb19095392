"""Threads that read, each with a connection of its own."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
from collections.abc import Callable
from threading import Thread, get_ident
from typing import TypeVar

from sqlalchemy import Connection, Engine

from eunoe_stores.sqlite.connections import raw
from eunoe_stores.sqlite.errors import mapped
from eunoe_stores.sqlite.waiting import Waiting, deliver

T = TypeVar("T")


def in_snapshot(connection: Connection, work: Callable[[Connection], T]) -> T:
    """The result of the work, which sees one state of the file."""
    driver = raw(connection)
    driver.execute("BEGIN")
    try:
        return work(connection)
    finally:
        if driver.in_transaction:
            driver.execute("COMMIT")


class QuickReader:
    """Reads in the thread that first asks, the event loop's. In WAL mode no writer can make it wait (https://sqlite.org/wal.html).

    Reads of one pass of the loop share a snapshot. Whoever tells a caller that a write is done calls `forget` first, so that the
    caller's next read sees it.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._thread: int | None = None
        self._connection: Connection | None = None
        self._driver: sqlite3.Connection | None = None
        self._is_open = False

    def is_here(self) -> bool:
        """Whether this thread may read here."""
        if self._thread is None:
            self._thread = get_ident()
        return self._thread == get_ident()

    def run(self, work: Callable[[Connection], T]) -> T:
        """The result of the work, which sees one state of the file."""
        try:
            if self._connection is None or self._driver is None:
                self._connection = self._engine.connect()
                self._driver = raw(self._connection)
            if not self._is_open:
                self._driver.execute("BEGIN")
                self._is_open = True
                asyncio.get_running_loop().call_soon(self.forget)
            return work(self._connection)
        except Exception as error:
            self.forget()
            raise mapped(error) from error

    def forget(self) -> None:
        """End the snapshot. May be called twice."""
        if self._is_open and self._driver is not None:
            self._is_open = False
            if self._driver.in_transaction:
                self._driver.execute("COMMIT")

    def close(self) -> None:
        """Close the connection. May be called twice."""
        if self._connection is not None and self._thread == get_ident():
            self.forget()
            self._connection.close()
            self._connection = self._driver = None


class Reader(Thread):
    """Takes works from a queue shared with the other readers until it reads None."""

    def __init__(self, engine: Engine, works: queue.SimpleQueue[Waiting | None], name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._engine = engine
        self._works = works

    def run(self) -> None:
        """Body of the thread. The connection is opened with the first work, so that idle readers cost nothing."""
        connection = None
        while (waiting := self._works.get()) is not None:
            if waiting.future.cancelled():
                continue
            try:
                connection = connection or self._engine.connect()
                in_snapshot(connection, waiting.run)
            except BaseException as error:  # noqa: BLE001 - it goes to the caller
                waiting.error = mapped(error)
            deliver([waiting])
        if connection is not None:
            connection.close()

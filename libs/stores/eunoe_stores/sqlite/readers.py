"""Threads that read, each with a connection of its own."""

from __future__ import annotations

import queue
from collections.abc import Callable
from threading import Thread, get_ident
from typing import TypeVar

from sqlalchemy import Connection, Engine

from eunoe_stores.sqlite.errors import mapped
from eunoe_stores.sqlite.waiting import Waiting, deliver

T = TypeVar("T")


class QuickReader:
    """Reads in the thread that first asks, the event loop's. In WAL mode no writer can make it wait (https://sqlite.org/wal.html)."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._thread: int | None = None
        self._connection: Connection | None = None

    def is_here(self) -> bool:
        """Whether this thread may read here."""
        if self._thread is None:
            self._thread = get_ident()
        return self._thread == get_ident()

    def run(self, work: Callable[[Connection], T]) -> T:
        """The result of the work, in a read transaction of its own."""
        try:
            self._connection = self._connection or self._engine.connect()
            with self._connection.begin():
                return work(self._connection)
        except Exception as error:
            raise mapped(error) from error

    def close(self) -> None:
        """Close the connection. May be called twice."""
        if self._connection is not None and self._thread == get_ident():
            self._connection.close()
            self._connection = None


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
                with connection.begin():
                    waiting.run(connection)
            except BaseException as error:  # noqa: BLE001 - it goes to the caller
                waiting.error = mapped(error)
            deliver([waiting])
        if connection is not None:
            connection.close()

"""Threads that read, each with a connection of its own."""

from __future__ import annotations

import queue
from threading import Thread

from sqlalchemy import Engine

from eunoe_stores.sqlite.errors import mapped
from eunoe_stores.sqlite.waiting import Waiting, deliver


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

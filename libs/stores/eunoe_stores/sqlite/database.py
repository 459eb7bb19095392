"""`Database` on one SQLite file in WAL mode (https://sqlite.org/wal.html)."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from eunoe_contracts.errors import StoreUnavailable
from sqlalchemy import Connection

from eunoe_stores.sqlite.connections import Memory, Synchronous, loop_engine, reader_engine, writer_engine
from eunoe_stores.sqlite.errors import mapped
from eunoe_stores.sqlite.log_sync import LogSync
from eunoe_stores.sqlite.loop_writer import LoopWriter
from eunoe_stores.sqlite.readers import QuickReader, Reader
from eunoe_stores.sqlite.waiting import Waiting
from eunoe_stores.sqlite.writer import Writer

T = TypeVar("T")


class SqliteDatabase:
    """One writer thread with group commit and a pool of readers on one file.

    The constructor opens the file, and makes it and its folder when they are not there; it raises `StoreUnavailable` when the file
    is no database, `StorageFull` when the disk is full. `FULL` is durable against loss of power once `write` has returned;
    `NORMAL` only against a killed process, for data that can be rebuilt. A work that was given before its caller was cancelled may
    or may not run.
    """

    def __init__(self, path: Path, *, synchronous: Synchronous = "FULL", readers: int = 4, memory: Memory | None = None) -> None:
        self.path = path
        memory = memory or Memory()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._writer_engine = writer_engine(path, memory, synchronous=synchronous)
        self._reader_engine = reader_engine(path, memory)
        self._reads: queue.SimpleQueue[Waiting | None] = queue.SimpleQueue()
        self._closed = False
        try:
            self._writer = Writer(self._writer_engine, f"{path.name}-writer", synchronous)
            self._sync = LogSync(path)
            self._short = LoopWriter(loop_engine(path, memory), self._writer, self._sync if synchronous == "FULL" else None)
        except Exception as error:
            raise mapped(error) from error
        self._readers = [Reader(self._reader_engine, self._reads, f"{path.name}-reader-{number}") for number in range(readers)]
        self._quick = QuickReader(self._reader_engine)
        for thread in (self._writer, self._sync, *self._readers):
            thread.start()

    async def write(self, work: Callable[[Connection], T], *, durable: bool = True, quick: bool = False) -> T:
        """See `Database.write`. In a `NORMAL` database nothing is durable before the file is synced."""
        waiting = self._waiting(work, durable=durable)
        waiting.forget = self._quick.forget
        self._short.put(waiting) if quick and self._quick.is_here() else self._writer.put(waiting)
        result: T = await waiting.future
        return result

    async def read(self, work: Callable[[Connection], T], *, quick: bool = False) -> T:
        """See `Database.read`. It sees every write that had returned before this call."""
        if quick and not self._closed and self._quick.is_here():
            return self._quick.run(work)
        waiting = self._waiting(work)
        self._reads.put(waiting)
        result: T = await waiting.future
        return result

    async def sync(self) -> None:
        """See `Database.sync`. Calls that wait together share one."""
        waiting = self._waiting(lambda _: None)
        self._sync.put([waiting])
        await waiting.future

    async def close(self) -> None:
        """See `Database.close`. Later calls of `write` and `read` raise `StoreUnavailable`."""
        if not self._closed:
            self._closed = True
            self._short.close()
            self._quick.close()
            self._writer.end()
            self._sync.end()
            for _ in self._readers:
                self._reads.put(None)
        await asyncio.to_thread(self._join)

    def _join(self) -> None:
        # The writer closes last of all: the last connection to a file folds the log into it.
        for thread in (*self._readers, self._sync, self._writer):
            thread.join()

    def _waiting(self, work: Callable[[Connection], T], *, durable: bool = False) -> Waiting:
        if self._closed:
            raise StoreUnavailable("the database is closed")
        loop = asyncio.get_running_loop()
        return Waiting(work, loop.create_future(), loop, durable)

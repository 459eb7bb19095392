"""Makes commits durable by syncing the write-ahead log, for many callers at once and without holding the write lock meanwhile."""

from __future__ import annotations

import errno
import os
import queue
from pathlib import Path
from threading import Thread

from eunoe_contracts.errors import StorageFull, StoreUnavailable

from eunoe_stores.sqlite.waiting import Waiting, deliver

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class LogSync(Thread):
    """Syncs until it reads None. After a sync that failed it refuses everything: what the disk then holds is not known any more."""

    def __init__(self, database: Path) -> None:
        super().__init__(name=f"{database.name}-sync", daemon=True)
        self._path = database.with_name(f"{database.name}-wal")
        self._queue: queue.SimpleQueue[list[Waiting] | None] = queue.SimpleQueue()
        self._descriptor: int | None = None
        self._failure: StorageFull | StoreUnavailable | None = None

    def put(self, committed: list[Waiting]) -> None:
        """Tell these callers when what they wrote is on the disk."""
        self._queue.put(committed)

    def end(self) -> None:
        """Finish what waits, then close."""
        self._queue.put(None)

    def run(self) -> None:
        """Body of the thread."""
        following = self._queue.get()
        while following is not None:
            batch = list(following)
            ended = False
            while not ended and not self._queue.empty():
                more = self._queue.get()
                ended = more is None
                batch += more or ()
            self._sync(batch)
            deliver(batch)
            following = None if ended else self._queue.get()
        if self._descriptor is not None:
            os.close(self._descriptor)

    def _sync_file(self) -> None:
        # Only the log: SQLite syncs the file itself whenever it folds the log into it, and closing a second descriptor of the file would
        # drop the locks it holds there (POSIX).
        if self._descriptor is None:
            try:
                self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return  # nothing was written since it was folded whole
        os.fdatasync(self._descriptor)

    def _sync(self, batch: list[Waiting]) -> None:
        if self._failure is None:
            try:
                self._sync_file()
            except OSError as error:
                name = errno.errorcode.get(error.errno or 0, "unknown")
                self._failure = StorageFull() if error.errno in _FULL else StoreUnavailable(f"the disk did not store the log ({name})")
                self._failure.__cause__ = error
        if self._failure is not None:
            for waiting in batch:
                waiting.error = self._failure

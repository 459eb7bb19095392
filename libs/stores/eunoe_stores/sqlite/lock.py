"""One process per data directory."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from eunoe_contracts.errors import DataDirectoryLocked

LOCK_NAME = "lock"
TRIES = 3
PAUSE_S = 0.02
"""`owner` holds the lock for an instant to find out; that must not make a start fail."""


class DataDirectoryLock:
    """An exclusive lock (flock) on `<directory>/lock`, which holds the owner's process id.

    The kernel drops it when the process ends, however it ends; a file left behind locks nothing. Use as a context manager, or call
    `acquire` and `release`; both may be called twice.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / LOCK_NAME
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock; raises `DataDirectoryLocked`, naming the process that has it. Makes the directory."""
        if self._descriptor is not None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not _locked(descriptor):
            owner = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            raise DataDirectoryLocked(f"process {owner} is using {self._path.parent}; stop it, or choose another data directory")
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        self._descriptor = descriptor
        # A forked child must not keep the lock alive after its parent; one started by exec loses it by O_CLOEXEC.
        os.register_at_fork(after_in_child=self._forget)

    def release(self) -> None:
        """Give the lock up; the file stays."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            self._forget()

    def owner(self) -> int | None:
        """Process id of whoever has the lock now (this process too); None when it is free."""
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            text = os.read(descriptor, 32).decode("ascii", "replace").strip()
            return int(text) if text.isdigit() else 0
        else:
            return None
        finally:
            os.close(descriptor)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()

    def _forget(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _locked(descriptor: int) -> bool:
    for attempt in range(TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(PAUSE_S if attempt < TRIES - 1 else 0)
        else:
            return True
    return False

"""Durable file work: every change is on the disk when a function returns. Blocking; call it in a thread.

A rename is durable only after an fsync of the directory that holds the name (POSIX leaves this open, Linux needs it).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eunoe_contracts.errors import BlobNotFound, StorageFull, StoreUnavailable

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@contextmanager
def named_errors() -> Iterator[None]:
    """Turn errors of the file system into `BlobNotFound`, `StorageFull` or `StoreUnavailable`."""
    try:
        yield
    except FileNotFoundError as error:
        raise BlobNotFound from error
    except OSError as error:
        if error.errno in _FULL:
            raise StorageFull from error
        raise StoreUnavailable(f"the blob folder did not answer ({errno.errorcode.get(error.errno or 0, 'unknown')})") from error


def sync_directory(directory: Path) -> None:
    """Make the names in a directory durable. One that was removed meanwhile has none left."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_bytes(path: Path) -> None:
    """Make what was written to a file durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_directories(directory: Path, root: Path) -> list[Path]:
    """Create what is missing between the root and the directory; returns the parents that got a new name."""
    try:
        directory.mkdir(mode=0o700)
    except FileExistsError:
        return []
    except FileNotFoundError:
        if directory == root:
            raise
        return [*make_directories(directory.parent, root), *make_directories(directory, root)]
    return [directory.parent]


def remove_empty(directory: Path) -> bool:
    """Remove a directory when nothing is in it; false otherwise."""
    try:
        directory.rmdir()
    except OSError as error:
        if error.errno in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT}:
            return False
        raise
    return True

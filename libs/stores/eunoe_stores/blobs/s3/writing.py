"""Writes to servers that keep objects as files, and remove a folder with the last object in it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from minio.error import S3Error

FOLDER_GONE = frozenset({"ExistingObjectIsDirectory"})
"""What versitygw 1.8 answers when another request took the emptied folder away before the new object was linked into it."""
TRIES = 5
PAUSE_S = 0.01
T = TypeVar("T")


def written(write: Callable[[], T]) -> T:
    """The write, done again when its folder was gone at that moment. Blocking; of something that may be written twice."""
    for tried in range(1, TRIES):
        try:
            return write()
        except S3Error as error:
            if error.code not in FOLDER_GONE:
                raise
        time.sleep(PAUSE_S * tried)
    return write()

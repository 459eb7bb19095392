"""What can be checked on this machine without a server: model, sandbox, disk, Python's SQLite."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LOW_DISK_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Check:
    """One finding, with what to do when it is not ok. `fatal` means that the server will not start like this."""

    name: str
    ok: bool
    reason: str
    fatal: bool = False

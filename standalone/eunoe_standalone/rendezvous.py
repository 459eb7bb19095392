"""How a command finds the running server of a data directory: a file that only the owner can read.

The file is a hint; the lock on the data directory decides who is the one writer.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from eunoe_stores.sqlite.lock import DataDirectoryLock

FILE_NAME = "server.json"


@dataclass(frozen=True, slots=True)
class RunningServer:
    """Addresses of a server and the secret of the local operator, renewed at each start."""

    pid: int
    http: str
    grpc: str
    secret: str
    version: str


def publish(data_dir: Path, server: RunningServer) -> None:
    """Write the file, readable by its owner only. May be called twice."""
    path = data_dir / FILE_NAME
    temporary = path.with_suffix(".new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(server), file)
    temporary.replace(path)


def withdraw(data_dir: Path) -> None:
    """Remove the file; nothing when it is not there."""
    (data_dir / FILE_NAME).unlink(missing_ok=True)


def find(data_dir: Path) -> RunningServer | None:
    """The running server, or None: no file, an unreadable one, or another process or none has the directory.

    A killed server leaves the file, and its process id may be given to any other program: the lock tells.
    """
    try:
        found = RunningServer(**json.loads((data_dir / FILE_NAME).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return found if DataDirectoryLock(data_dir).owner() == found.pid else None

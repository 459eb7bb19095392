"""Jobs that misbehave, for tests of the pool and of whoever uses it. They live here since a worker must be able to import them."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import tempfile
import threading
from pathlib import Path

from eunoe_contracts.errors import EncryptedDocument


def echo(value: object) -> object:
    """Give the argument back."""
    return value


def process_id() -> int:
    """The worker's process id."""
    return os.getpid()


def hang() -> None:
    """Never return, using no CPU time and deaf to SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Event().wait()


def burn() -> None:
    """Never return, using CPU time."""
    while True:
        pass


def eat_memory() -> int:
    """Allocate without end."""
    held = []
    while True:
        held.append(bytearray(16 * 1024 * 1024))


def keep_memory(size: int) -> int:
    """Hold that many bytes for the rest of the worker's life."""
    KEPT.append(b"x" * size)
    return size


KEPT: list[bytes] = []


def die(number: int) -> None:
    """End by a signal."""
    os.kill(os.getpid(), number)


def read_null() -> None:
    """A real segmentation fault in C code."""
    ctypes.string_at(0)


def leave(code: int) -> None:
    """End the process at once."""
    os._exit(code)


def fail_as_encrypted() -> None:
    """Raise an error of our own tree."""
    raise EncryptedDocument("this one needs a password")


def fail_with_text(text: str) -> None:
    """Raise a foreign error that quotes the document."""
    raise KeyError(text)


def connect(port: int) -> str:
    """Try to reach a port of the parent; the name of the error, or `connected`."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2):
            return "connected"
    except OSError as error:
        return type(error).__name__


def write_beside(path: Path) -> str:
    """Try to change a file that is not the worker's; the name of the error, or `written`."""
    try:
        path.write_text("changed", encoding="utf-8")
    except OSError as error:
        return type(error).__name__
    return "written"


def write_temporary(size: int) -> str:
    """Write a temporary file and leave it; its path."""
    with tempfile.NamedTemporaryFile(delete=False) as file:
        file.write(b"x" * size)
    return file.name


def start_program() -> str:
    """Try to start another program; the name of the error, or `started`."""
    try:
        os.execv("/bin/true", ["true"])  # noqa: S606  # the point of the test is that this is refused
    except OSError as error:
        return type(error).__name__


def environment() -> dict[str, str]:
    """The variables the worker sees."""
    return dict(os.environ)


def open_sockets() -> int:
    """How many sockets the worker holds, its own included."""
    return sum(1 for each in Path("/proc/self/fd").iterdir() if _is_socket(each))


def _is_socket(link: Path) -> bool:
    try:
        return str(link.readlink()).startswith("socket:")
    except OSError:
        return False

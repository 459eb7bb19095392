"""How parent and worker talk: length-prefixed frames on a socket pair.

Towards the worker a frame is a pickle, since the parent is trusted. Back from the worker it is JSON: a parser that was taken over
by a hostile file must not be able to make the parent unpickle anything.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from typing import Any

HEADER = struct.Struct(">Q")


class FrameTooLarge(Exception):
    """The other side announced more bytes than agreed; nothing of it was read."""


def send_frame(sock: socket.socket, payload: bytes) -> None:
    """Write one frame, blocking."""
    sock.sendall(HEADER.pack(len(payload)))
    sock.sendall(payload)


def read_frame(sock: socket.socket) -> bytes | None:
    """Read one frame, blocking; None when the other side has closed."""
    header = _read_exactly(sock, HEADER.size)
    return None if header is None else _read_exactly(sock, HEADER.unpack(header)[0])


def _read_exactly(sock: socket.socket, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        piece = sock.recv(min(size - len(parts), 1 << 20))
        if not piece:
            return None
        parts += piece
    return bytes(parts)


async def read_json(reader: asyncio.StreamReader, limit: int) -> Any:
    """Read one JSON frame of at most `limit` bytes. Raises `FrameTooLarge`, `ValueError` when it is not JSON, and
    `asyncio.IncompleteReadError` when the worker has gone.
    """
    size = HEADER.unpack(await reader.readexactly(HEADER.size))[0]
    if size > limit:
        raise FrameTooLarge
    return json.loads(await reader.readexactly(size))


def to_json(value: object) -> bytes:
    """JSON bytes of a result; characters that are no Unicode text (lone surrogates) become question marks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

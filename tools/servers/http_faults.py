"""A proxy on loopback between the store and the server, which spoils what passes: a fault for each of the next requests."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

BUSY = b"<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>m</Message><Resource>/zebra</Resource></Error>"

STANDS_STILL_S = 60.0


@dataclass
class Proxy:
    """Faults, the next one first: `503`, `reset`, `silence`, `lost` (the answer, after the server has done it), and of an answer's body
    `cut:N` (closed after N bytes), `hang:N`, `drip`. `only` limits them to requests whose first line contains it.
    """

    upstream: tuple[str, int]
    faults: list[str] = field(default_factory=list)
    only: bytes = b""
    seen: list[str] = field(default_factory=list)
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of the store's."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            try:
                while await self._pass_one(reader, writer):
                    pass
            finally:
                writer.close()

    async def _pass_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(_length(head))
        line = head.split(b"\r\n")[0]
        self.seen.append(line.decode())
        fault = self.faults.pop(0) if self.faults and self.only in line else ""
        if fault == "503":
            writer.write(b"HTTP/1.1 503 Busy\r\nContent-Type: application/xml\r\nContent-Length: %d\r\n\r\n" % len(BUSY) + BUSY)
            await writer.drain()
            return True
        if fault == "reset":
            writer.transport.abort()
            return False
        if fault == "silence":
            await asyncio.sleep(STANDS_STILL_S)
            return False
        answer, content = await self._ask(head, body)
        if fault == "lost":
            writer.transport.abort()
            return False
        kind, _, count = fault.partition(":")
        whole = content if kind not in {"cut", "hang", "drip"} else content[: int(count or 0)]
        writer.write(answer + whole)
        await writer.drain()
        if kind == "hang":
            await asyncio.sleep(STANDS_STILL_S)
        if kind == "drip":
            for at in range(len(content)):
                writer.write(content[at : at + 1])
                await writer.drain()
                await asyncio.sleep(0.2)
        return kind not in {"cut", "hang", "drip"}

    async def _ask(self, head: bytes, body: bytes) -> tuple[bytes, bytes]:
        reader, writer = await asyncio.open_connection(*self.upstream)
        try:
            writer.write(head + body)
            await writer.drain()
            answer = await reader.readuntil(b"\r\n\r\n")
            has_body = not head.startswith(b"HEAD") and b" 204 " not in answer.split(b"\r\n")[0]
            if has_body and b"transfer-encoding: chunked" in answer.lower():
                content = b""
                while not content.endswith(b"0\r\n\r\n"):
                    content += await reader.read(65536)
                return answer, content
            return answer, await reader.readexactly(_length(answer)) if has_body else b""
        finally:
            writer.close()


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


@asynccontextmanager
async def open_proxy(upstream: tuple[str, int]) -> AsyncIterator[Proxy]:
    """Listening while the context lives."""
    proxy = Proxy(upstream)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=2**20)
    proxy.port = server.sockets[0].getsockname()[1]
    tasks = asyncio.all_tasks()
    try:
        yield proxy
    finally:
        server.close()
        for each in asyncio.all_tasks() - tasks - {asyncio.current_task()}:
            if each.get_coro().__qualname__.startswith("Proxy.serve"):  # type: ignore[union-attr]  # a coroutine, not a generator
                each.cancel()

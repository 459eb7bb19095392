"""What only a real connection shows: bodies that come slowly, stop, or never end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import eunoe_gateway.http.multipart as multipart_module
import pytest
from eunoe_gateway.http.request_body import body_of
from eunoe_stores.testing import MemoryBlobStore
from eunoe_telemetry.testing import eventually

BOUNDARY = "frontier"
HEAD = (
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="container"\r\n\r\nfiles\r\n'
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="big.txt"\r\n\r\n'
).encode()
TAIL = f"\r\n--{BOUNDARY}--\r\n".encode()
BLOCK = b"All work and no play. " * 1000


class WatchedBlobs(MemoryBlobStore):
    """Counts what arrives while it arrives."""

    def __init__(self) -> None:
        super().__init__()
        self.received, self.largest, self.ended = 0, 0, 0

    async def stage(self, tenant: str, upload_id: str, chunks: AsyncIterator[bytes], *, limit: int) -> Any:
        async def counted() -> AsyncIterator[bytes]:
            async for chunk in chunks:
                self.received += len(chunk)
                self.largest = max(self.largest, len(chunk))
                yield chunk

        try:
            return await super().stage(tenant, upload_id, counted(), limit=limit)
        finally:
            self.ended += 1


@pytest.fixture
def blobs(world: Any) -> WatchedBlobs:
    made = WatchedBlobs()
    world.blobs = made
    world.ports = replace(world.ports, blobs=made)
    return made


class Peer:
    """The client's end of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def begin(
        self, length: int, *, path: str = "/v1/documents/upload", kind: str = f"multipart/form-data; boundary={BOUNDARY}"
    ) -> None:
        await self.send(f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n".encode())

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def answer(self) -> tuple[int, Any]:
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode()
        length = next(int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length"))
        return int(head.split()[1]), json.loads(await self._reader.readexactly(length))

    async def vanish(self) -> None:
        self._writer.transport.abort()


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Peer]:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        yield Peer(reader, writer)
    finally:
        writer.close()


async def test_a_file_goes_to_the_store_while_it_arrives(blobs: WatchedBlobs, door: Any) -> None:
    async with door.listening() as url, connected(url) as peer:
        await peer.begin(len(HEAD) + 30 * len(BLOCK) + len(TAIL))
        await peer.send(HEAD)
        for number in range(1, 31):
            await peer.send(BLOCK)
            # All but what the parser must hold back to tell data from a boundary has reached the store before more is sent.
            await eventually(lambda number=number: blobs.received > number * len(BLOCK) - 100)
        await peer.send(TAIL)
        status, body = await peer.answer()
    assert status == 202, body
    assert blobs.received == 30 * len(BLOCK)
    assert blobs.largest <= 64 * 1024


async def test_too_large_a_file_is_refused_while_it_is_sent(blobs: WatchedBlobs, door: Any) -> None:
    async with door.listening() as url, connected(url) as peer:
        await peer.begin(10**12)
        await peer.send(HEAD)
        answered = asyncio.create_task(peer.answer())
        for _ in range(500):
            if answered.done():
                break
            await peer.send(BLOCK)
        status, body = await answered
    assert (status, body["code"]) == (413, "payload_too_large")
    assert blobs.received < 1_200_000
    assert await door.untouched()


async def test_a_client_that_vanishes_leaves_nothing(blobs: WatchedBlobs, door: Any) -> None:
    async with door.listening() as url, connected(url) as peer:
        await peer.begin(10_000_000)
        await peer.send(HEAD + BLOCK)
        await eventually(lambda: blobs.received > 0)
        await peer.vanish()
        await eventually(lambda: blobs.ended == 1)
        await eventually(door.untouched)


async def test_a_body_that_stops_coming_is_given_up(blobs: WatchedBlobs, door: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def impatient(request: Any) -> AsyncIterator[bytes]:
        return body_of(request, idle_s=0.1)

    monkeypatch.setattr(multipart_module, "body_of", impatient)
    async with door.listening() as url, connected(url) as peer:
        await peer.begin(10_000_000)
        await peer.send(HEAD + BLOCK)
        status, body = await peer.answer()
    assert (status, body["code"]) == (400, "invalid_request")
    assert blobs.received > 0
    assert await door.untouched()


async def test_a_vanished_client_of_a_json_call_is_no_failure_of_the_server(door: Any) -> None:
    async with door.listening() as url, connected(url) as peer:
        await peer.begin(1000, path="/v1/documents", kind="application/json")
        await peer.send(b'{"content": "x')
        await peer.vanish()

        def counted() -> bool:
            found = door.world.metrics.registry.get_sample_value(
                "eunoe_gateway_requests_total", {"method": "POST /v1/documents", "code": "400"}
            )
            return found == 1

        await eventually(counted)
    assert await door.untouched()


async def test_other_calls_are_answered_while_a_file_is_on_its_way(blobs: WatchedBlobs, door: Any) -> None:
    async with door.listening() as url, connected(url) as slow, connected(url) as other:
        await slow.begin(10_000_000)
        await slow.send(HEAD + BLOCK)
        await eventually(lambda: blobs.received > 0)
        await other.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        status, body = await other.answer()
    assert (status, body["status"]) == (200, "healthy")

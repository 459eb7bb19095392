"""One upload on its way to the staging tree, in parts that are sent while the next one comes in."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from eunoe_contracts.errors import EunoeError, PayloadTooLarge
from minio.datatypes import Part

from eunoe_stores.blobs.port import StagedBlob
from eunoe_stores.blobs.s3.bucket import Bucket

HEAD_BYTES = 64 * 1024
MOST_PARTS = 10_000
T = TypeVar("T")
InThread = Callable[[Callable[[], Any]], Awaitable[Any]]


class Uploading:
    """An object that appears whole at the end, or not at all. What is no longer than a part is one request."""

    def __init__(self, bucket: Bucket, in_thread: InThread, key: str, digest_key: str, *, part_size: int) -> None:
        self._bucket = bucket
        self._in_thread = in_thread
        self._key = key
        self._digest_key = digest_key
        self._part_size = part_size
        self._hash = hashlib.sha256()
        self._size = 0
        self._head = b""
        self._upload = ""
        self._may_be_there = False
        self._parts: list[Part] = []
        self._sending: asyncio.Task[None] | None = None

    async def run(self, upload_id: str, chunks: AsyncIterator[bytes], *, limit: int) -> StagedBlob:
        """Take the chunks in. At most two parts and one chunk are in memory. Raises `PayloadTooLarge` past `limit` bytes."""
        part_size = max(self._part_size, -(-limit // MOST_PARTS))
        buffer = bytearray()
        try:
            async for chunk in chunks:
                self._size += len(chunk)
                self._refuse_past(limit)
                self._head += chunk[: HEAD_BYTES - len(self._head)]
                buffer += chunk
                while len(buffer) > part_size:
                    part = bytes(memoryview(buffer)[:part_size])
                    del buffer[:part_size]
                    await self._send(part)
            await self._finish(bytes(buffer))
        except BaseException:
            await asyncio.shield(self._abandon())
            raise
        return StagedBlob(upload_id, self._size, self._hash.hexdigest(), self._head)

    def _refuse_past(self, limit: int) -> None:
        if self._size > limit:
            raise PayloadTooLarge

    async def _send(self, part: bytes) -> None:
        await self._sent()
        self._sending = asyncio.create_task(self._send_now(part), name="send a part")

    async def _send_now(self, part: bytes) -> None:
        await self._in_thread(partial(self._send_in_thread, part))

    def _send_in_thread(self, part: bytes) -> None:
        self._hash.update(part)
        if not self._upload:
            self._upload = self._bucket.begin(self._key)
        self._parts.append(self._bucket.put_part(self._key, self._upload, len(self._parts) + 1, part))

    async def _sent(self) -> None:
        """The part before is there. Not cancelled with the caller: an abort must come after the last part, or the part stays."""
        if self._sending is not None:
            await asyncio.shield(self._sending)

    async def _finish(self, rest: bytes) -> None:
        if self._sending is None:
            await self._in_thread(partial(self._put_whole, rest))
            return
        await self._send(rest)
        await self._sent()
        await self._in_thread(self._put_together)

    def _put_whole(self, data: bytes) -> None:
        self._hash.update(data)
        self._may_be_there = True
        self._bucket.put(self._key, data, sha256=self._hash.hexdigest())

    def _put_together(self) -> None:
        self._may_be_there = True
        # Metadata are given when an upload begins, when nobody knows the checksum yet.
        self._bucket.put(self._digest_key, self._hash.hexdigest().encode())
        self._bucket.finish(self._key, self._upload, self._parts)

    async def _abandon(self) -> None:
        """Leave nothing. What cannot be removed now is swept as stale later."""
        if self._sending is not None:
            await asyncio.gather(self._sending, return_exceptions=True)
        with suppress(EunoeError):
            await self._in_thread(self._remove)

    def _remove(self) -> None:
        if self._upload:
            self._bucket.abort(self._key, self._upload)
        if self._may_be_there:
            self._bucket.remove_all([self._key, self._digest_key])

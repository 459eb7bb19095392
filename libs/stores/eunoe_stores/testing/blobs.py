"""`BlobStore` in memory."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from eunoe_contracts.errors import BlobNotFound, PayloadTooLarge, StoreUnavailable

from eunoe_stores.blobs.names import checked_key, checked_tenant, checked_upload
from eunoe_stores.blobs.port import BlobKey, StagedBlob

CHUNK_BYTES = 256 * 1024
HEAD_BYTES = 64 * 1024


class MemoryBlobStore:
    """Keeps everything in two dicts; passes the same behaviour suite as the folder. `now` dates staged uploads."""

    def __init__(self, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now
        self._blobs: dict[tuple[str, BlobKey], bytes] = {}
        self._staging: dict[tuple[str, str], tuple[bytes, datetime]] = {}

    async def stage(self, tenant: str, upload_id: str, chunks: AsyncIterator[bytes], *, limit: int) -> StagedBlob:
        """See `BlobStore.stage`."""
        place = (checked_tenant(tenant), checked_upload(upload_id))
        data = bytearray()
        async for chunk in chunks:
            data += chunk
            if len(data) > limit:
                raise PayloadTooLarge
        self._staging[place] = (bytes(data), self._now())
        return StagedBlob(upload_id, len(data), hashlib.sha256(data).hexdigest(), bytes(data[:HEAD_BYTES]))

    async def promote(self, tenant: str, upload_id: str, key: BlobKey) -> None:
        """See `BlobStore.promote`."""
        place = (checked_tenant(tenant), checked_key(key))
        staged = self._staging.pop((tenant, checked_upload(upload_id)), None)
        if staged is not None:
            self._blobs[place] = staged[0]
        elif place not in self._blobs:
            raise BlobNotFound

    async def discard(self, tenant: str, upload_id: str) -> None:
        """See `BlobStore.discard`."""
        self._staging.pop((checked_tenant(tenant), checked_upload(upload_id)), None)

    @asynccontextmanager
    async def staged_file(self, tenant: str, upload_id: str) -> AsyncIterator[Path]:
        """See `BlobStore.staged_file`; a temporary copy."""
        staged = self._staging.get((checked_tenant(tenant), checked_upload(upload_id)))
        if staged is None:
            raise BlobNotFound
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / upload_id
            await asyncio.to_thread(path.write_bytes, staged[0])
            yield path

    async def put(self, tenant: str, key: BlobKey, data: bytes) -> None:
        """See `BlobStore.put`."""
        self._blobs[checked_tenant(tenant), checked_key(key)] = bytes(data)

    async def read(self, tenant: str, key: BlobKey, *, sha256: str | None = None) -> bytes:
        """See `BlobStore.read`."""
        data = self._blobs.get((checked_tenant(tenant), checked_key(key)))
        if data is None:
            raise BlobNotFound
        if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256.lower():
            raise StoreUnavailable
        return data

    async def stream(self, tenant: str, key: BlobKey) -> AsyncIterator[bytes]:
        """See `BlobStore.stream`."""
        data = await self.read(tenant, key)
        for start in range(0, len(data), CHUNK_BYTES):
            yield data[start : start + CHUNK_BYTES]

    @asynccontextmanager
    async def as_file(self, tenant: str, key: BlobKey) -> AsyncIterator[Path]:
        """See `BlobStore.as_file`; a temporary copy."""
        data = await self.read(tenant, key)
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / key.name
            await asyncio.to_thread(path.write_bytes, data)
            yield path

    async def delete(self, tenant: str, document: UUID, *, through_generation: int, from_generation: int = 1) -> int:
        """See `BlobStore.delete`."""
        checked_tenant(tenant)
        gone = [
            place
            for place in self._blobs
            if place[0] == tenant and place[1].document == document and from_generation <= place[1].generation <= through_generation
        ]
        for place in gone:
            del self._blobs[place]
        return len(gone)

    async def delete_one(self, tenant: str, key: BlobKey) -> bool:
        """See `BlobStore.delete_one`."""
        return self._blobs.pop((checked_tenant(tenant), checked_key(key)), None) is not None

    async def documents(self, tenant: str) -> Sequence[tuple[UUID, int]]:
        """See `BlobStore.documents`."""
        return sorted({(key.document, key.generation) for owner, key in self._blobs if owner == checked_tenant(tenant)})

    async def tenants(self) -> Sequence[str]:
        """See `BlobStore.tenants`."""
        return sorted({owner for owner, _ in self._blobs} | {owner for owner, _ in self._staging})

    async def discard_stale(self, *, older_than: datetime) -> int:
        """See `BlobStore.discard_stale`."""
        stale = [place for place, (_, written) in self._staging.items() if written < older_than]
        for place in stale:
            del self._staging[place]
        return len(stale)

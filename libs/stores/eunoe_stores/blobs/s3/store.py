"""`BlobStore` in a bucket of any server that speaks S3."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from eunoe_contracts.errors import BlobNotFound, StoreUnavailable

from eunoe_stores.blobs.files import named_errors as named_errors_of_files
from eunoe_stores.blobs.port import BlobKey, StagedBlob, UploadForm
from eunoe_stores.blobs.s3.bucket import Bucket
from eunoe_stores.blobs.s3.keys import DIGEST, Keys
from eunoe_stores.blobs.s3.presigned import measured, signed_form
from eunoe_stores.blobs.s3.reading import Reading
from eunoe_stores.blobs.s3.uploading import Uploading

CHUNK_BYTES = 256 * 1024
T = TypeVar("T")


class S3BlobStore:
    """Blobs as objects. What `promote` and `put` have stored is as durable as the server's answer; both appear whole or not at all.

    The SHA-256 of every blob stands in its metadata, and is compared whenever a blob was read to its end. Use it from one event loop.
    """

    def __init__(
        self, bucket: Bucket, keys: Keys, *, threads: int, part_size: int, transfer_timeout_s: float, public_url: str = ""
    ) -> None:
        self._bucket = bucket
        self._keys = keys
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="s3")
        self._part_size = part_size
        self._transfer_timeout_s = transfer_timeout_s
        self._public_url = public_url

    async def stage(self, tenant: str, upload_id: str, chunks: AsyncIterator[bytes], *, limit: int) -> StagedBlob:
        """See `BlobStore.stage`. At most three parts are held in memory."""
        key, digest_key = self._keys.staged(tenant, upload_id), self._keys.digest(tenant, upload_id)
        uploading = Uploading(self._bucket, self._in_thread, key, digest_key, part_size=self._part_size)
        return await uploading.run(upload_id, chunks, limit=limit)

    async def promote(self, tenant: str, upload_id: str, key: BlobKey) -> None:
        """See `BlobStore.promote`: a copy on the server. Raises `BlobNotFound` when neither the upload nor the blob is there."""
        staged, digest_key = self._keys.staged(tenant, upload_id), self._keys.digest(tenant, upload_id)
        await self._in_thread(partial(self._promote, staged, digest_key, self._keys.blob(tenant, key)))

    async def discard(self, tenant: str, upload_id: str) -> None:
        """See `BlobStore.discard`."""
        keys = [self._keys.staged(tenant, upload_id), self._keys.digest(tenant, upload_id)]
        await self._in_thread(partial(self._bucket.remove_all, keys))

    @asynccontextmanager
    async def staged_file(self, tenant: str, upload_id: str) -> AsyncIterator[Path]:
        """See `BlobStore.staged_file`. The path is a copy."""
        async with self._file(self._keys.staged(tenant, upload_id)) as path:
            yield path

    async def put(self, tenant: str, key: BlobKey, data: bytes) -> None:
        """See `BlobStore.put`."""
        name = self._keys.blob(tenant, key)
        await self._in_thread(lambda: self._bucket.put(name, data, sha256=hashlib.sha256(data).hexdigest()))

    async def read(self, tenant: str, key: BlobKey, *, sha256: str | None = None) -> bytes:
        """See `BlobStore.read`."""
        reading = self._reading(self._keys.blob(tenant, key))

        def whole() -> bytes:
            pieces = list(iter(reading.piece, b""))
            reading.check(sha256)
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)

        return await self._in_thread(whole)

    async def stream(self, tenant: str, key: BlobKey) -> AsyncIterator[bytes]:
        """See `BlobStore.stream`. A wrong checksum is an error after the last chunk."""
        reading = self._reading(self._keys.blob(tenant, key))
        while piece := await self._in_thread(reading.piece):
            for start in range(0, len(piece), CHUNK_BYTES):
                yield piece[start : start + CHUNK_BYTES]
        await self._in_thread(reading.check)

    @asynccontextmanager
    async def as_file(self, tenant: str, key: BlobKey) -> AsyncIterator[Path]:
        """See `BlobStore.as_file`. The path is a copy."""
        async with self._file(self._keys.blob(tenant, key)) as path:
            yield path

    async def delete(self, tenant: str, document: UUID, *, through_generation: int, from_generation: int = 1) -> int:
        """See `BlobStore.delete`."""
        prefix, generations = self._keys.of_document(tenant, document), range(from_generation, through_generation + 1)

        def remove() -> int:
            found = [each.key for each in self._bucket.listed(prefix, recursive=True)]
            keys = [key for key in found if self._keys.generation(key)[1] in generations]
            self._bucket.remove_all(keys)
            return len(keys)

        return await self._in_thread(remove)

    async def delete_one(self, tenant: str, key: BlobKey) -> bool:
        """See `BlobStore.delete_one`. Of two callers at the same time both may be told that it was there."""
        name = self._keys.blob(tenant, key)

        def remove() -> bool:
            if not self._bucket.is_there(name):
                return False
            self._bucket.remove(name)
            return True

        return await self._in_thread(remove)

    async def documents(self, tenant: str) -> Sequence[tuple[UUID, int]]:
        """See `BlobStore.documents`; ordered."""
        prefix = self._keys.of_tenant(tenant)
        found = await self._in_thread(partial(self._bucket.listed, prefix, recursive=True))
        return sorted({self._keys.generation(each.key) for each in found})

    async def tenants(self) -> Sequence[str]:
        """See `BlobStore.tenants`; ordered."""
        return await self._in_thread(self._tenants)

    async def discard_stale(self, *, older_than: datetime) -> int:
        """See `BlobStore.discard_stale`. By the server's clock. Uploads in parts that nobody finished go too, and are not counted."""
        return await self._in_thread(partial(self._discard_stale, older_than))

    async def upload_form(self, tenant: str, upload_id: str, *, limit: int, expires: datetime) -> UploadForm:
        """See `DirectUploads.upload_form`."""
        key, public_url = self._keys.staged(tenant, upload_id), self._public_url
        return await self._in_thread(partial(signed_form, self._bucket, key, limit=limit, expires=expires, public_url=public_url))

    async def measure(self, tenant: str, upload_id: str) -> StagedBlob:
        """See `DirectUploads.measure`."""
        key, digest_key = self._keys.staged(tenant, upload_id), self._keys.digest(tenant, upload_id)
        timeout_s = self._transfer_timeout_s
        return await self._in_thread(partial(measured, self._bucket, key, digest_key, upload_id, timeout_s=timeout_s))

    async def close(self) -> None:
        """Finish what is on its way. May be called twice. Later calls raise `StoreUnavailable`."""
        await asyncio.to_thread(self._threads.shutdown)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        try:
            running = loop.run_in_executor(self._threads, work)
        except RuntimeError:
            raise StoreUnavailable("the blob store is closed") from None
        return await running

    def _reading(self, key: str) -> Reading:
        return Reading(self._bucket, key, timeout_s=self._transfer_timeout_s)

    def _promote(self, staged: str, digest_key: str, target: str) -> None:
        try:
            found = self._bucket.facts(staged)
            sha256, etag = (found.sha256, found.etag) if found.sha256 else self._digest(digest_key)
            self._bucket.copy(staged, target, sha256=sha256, etag=etag or found.etag)
        except BlobNotFound:
            if self._bucket.is_there(target):
                return  # promoted before
            raise
        self._bucket.remove_all([staged, digest_key])

    def _digest(self, digest_key: str) -> tuple[str, str]:
        """The checksum, and the version that it was read from if that is not certain."""
        sha256, _, etag = self._reading(digest_key).piece().decode().partition(" ")
        return sha256, etag

    @asynccontextmanager
    async def _file(self, key: str) -> AsyncIterator[Path]:
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="eunoe-blob-"))
        try:
            path = folder / "blob"
            await self._in_thread(partial(self._download, key, path))
            yield path
        finally:
            await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))

    def _download(self, key: str, path: Path) -> None:
        reading = self._reading(key)
        with named_errors_of_files(), path.open("xb") as file:
            while piece := reading.piece():
                file.write(piece)
        reading.check()

    def _tenants(self) -> list[str]:
        found = [each.key for tree in (self._keys.blobs, self._keys.staging) for each in self._bucket.listed(tree, recursive=False)]
        return sorted({self._keys.tenant(key) for key in found})

    def _discard_stale(self, older_than: datetime) -> int:
        for upload in self._bucket.uploads(self._keys.staging):
            if upload.initiated_time is not None and upload.initiated_time < older_than:
                self._bucket.abort(str(upload.object_name), str(upload.upload_id))
        found = self._bucket.listed(self._keys.staging, recursive=True)
        stale = [each.key for each in found if each.modified is not None and each.modified < older_than]
        self._bucket.remove_all(stale)
        return sum(not key.endswith(DIGEST) for key in stale)

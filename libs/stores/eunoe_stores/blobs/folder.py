"""`BlobStore` in a folder: `<root>/<tenant>/<document>/<generation>/<name>` and `<root>/<tenant>/staging/<upload id>`."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import UUID, uuid4

from eunoe_contracts.errors import BlobNotFound, StoreUnavailable

from eunoe_stores.blobs.files import make_directories, named_errors, remove_empty, sync_directory
from eunoe_stores.blobs.names import checked_key, checked_tenant, checked_upload
from eunoe_stores.blobs.port import BlobKey, StagedBlob
from eunoe_stores.blobs.promotion import Promotion
from eunoe_stores.blobs.staging import BUFFER_BYTES, PARTIAL, Upload

CHUNK_BYTES = 256 * 1024
SMALL_BYTES = 64 * 1024
"""Up to this size an upload is written on the event loop."""
STAGING = "staging"
T = TypeVar("T")


class FolderBlobStore:
    """Blobs as files on a local disk, for one process. Long file work happens in threads; the root is made when it is missing.

    What `promote` and `put` have stored survives loss of power: fsync of the file, rename, fsync of the directories that changed.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        # A delete that removes an empty directory must not meet a promote that is about to put a file there.
        self._tree = threading.Lock()
        self._promotion = Promotion(self._root, self._tree)

    async def stage(self, tenant: str, upload_id: str, chunks: AsyncIterator[bytes], *, limit: int) -> StagedBlob:
        """See `BlobStore.stage`. At most 1 MiB and one chunk are held in memory."""
        target = self._staged(tenant, upload_id)
        buffer = bytearray()
        async for chunk in chunks:
            buffer += chunk
            if len(buffer) >= BUFFER_BYTES:
                break
        else:
            whole = partial(self._stage_whole, target, upload_id, bytes(buffer), limit)
            if len(buffer) > SMALL_BYTES:
                return await _in_thread(whole)
            with named_errors():
                return whole()  # the page cache takes it sooner than another thread would begin
        upload = await _in_thread(lambda: self._open_upload(target, limit))
        try:
            await _in_thread(lambda data=bytes(buffer): upload.write(data))  # type: ignore[misc]  # mypy cannot infer such a lambda
            buffer.clear()
            async for chunk in chunks:
                buffer += chunk
                if len(buffer) >= BUFFER_BYTES:
                    await _in_thread(lambda data=bytes(buffer): upload.write(data))  # type: ignore[misc]  # mypy cannot infer such a lambda
                    buffer.clear()
            await _in_thread(lambda: upload.write(bytes(buffer)))
            return await _in_thread(lambda: upload.finish(upload_id))
        finally:
            await asyncio.shield(_in_thread(upload.abandon))

    def _stage_whole(self, target: Path, upload_id: str, data: bytes, limit: int) -> StagedBlob:
        """A small upload in one visit to a thread."""
        upload = self._open_upload(target, limit)
        try:
            upload.write(data)
            return upload.finish(upload_id)
        finally:
            upload.abandon()

    async def promote(self, tenant: str, upload_id: str, key: BlobKey) -> None:
        """See `BlobStore.promote`. Raises `BlobNotFound` when neither the upload nor the blob is there."""
        await self._promotion.move(self._staged(tenant, upload_id), self._path(tenant, key))

    async def discard(self, tenant: str, upload_id: str) -> None:
        """See `BlobStore.discard`."""
        path = self._staged(tenant, upload_id)
        await _in_thread(lambda: path.unlink(missing_ok=True))

    @asynccontextmanager
    async def staged_file(self, tenant: str, upload_id: str) -> AsyncIterator[Path]:
        """See `BlobStore.staged_file`. The path is the upload itself."""
        path = self._staged(tenant, upload_id)
        if not await _in_thread(path.is_file):
            raise BlobNotFound
        yield path

    async def put(self, tenant: str, key: BlobKey, data: bytes) -> None:
        """See `BlobStore.put`."""
        target = self._path(tenant, key)
        temporary = self._staged(tenant, f"put-{uuid4().hex}{PARTIAL}")
        await _in_thread(lambda: self._put(temporary, target, data))

    async def read(self, tenant: str, key: BlobKey, *, sha256: str | None = None) -> bytes:
        """See `BlobStore.read`."""
        path = self._path(tenant, key)
        data = await _in_thread(path.read_bytes)
        if sha256 is not None and await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest()) != sha256.lower():
            raise StoreUnavailable("a stored blob does not have the checksum it was stored with")
        return data

    async def stream(self, tenant: str, key: BlobKey) -> AsyncIterator[bytes]:
        """See `BlobStore.stream`."""
        path = self._path(tenant, key)
        file = await _in_thread(lambda: path.open("rb"))
        try:
            while chunk := await _in_thread(lambda: file.read(CHUNK_BYTES)):
                yield chunk
        finally:
            file.close()

    @asynccontextmanager
    async def as_file(self, tenant: str, key: BlobKey) -> AsyncIterator[Path]:
        """See `BlobStore.as_file`. The path is the blob itself."""
        path = self._path(tenant, key)
        if not path.is_file():
            raise BlobNotFound
        yield path

    async def delete(self, tenant: str, document: UUID, *, through_generation: int, from_generation: int = 1) -> int:
        """See `BlobStore.delete`."""
        directory = self._root / checked_tenant(tenant) / str(document)
        return await _in_thread(lambda: self._delete(directory, range(from_generation, through_generation + 1)))

    async def delete_one(self, tenant: str, key: BlobKey) -> bool:
        """See `BlobStore.delete_one`."""
        path = self._path(tenant, key)
        return await _in_thread(lambda: self._delete_one(path))

    async def documents(self, tenant: str) -> Sequence[tuple[UUID, int]]:
        """See `BlobStore.documents`; ordered."""
        directory = self._root / checked_tenant(tenant)
        return await _in_thread(lambda: _documents(directory))

    async def tenants(self) -> Sequence[str]:
        """See `BlobStore.tenants`; ordered."""
        return await _in_thread(lambda: [each.name for each in _children(self._root) if any(_files(each))])

    async def discard_stale(self, *, older_than: datetime) -> int:
        """See `BlobStore.discard_stale`. What a killed process left half-written goes too."""
        return await _in_thread(lambda: self._discard_stale(older_than.timestamp()))

    def _staged(self, tenant: str, upload_id: str) -> Path:
        return self._root / checked_tenant(tenant) / STAGING / checked_upload(upload_id)

    def _path(self, tenant: str, key: BlobKey) -> Path:
        checked_key(key)
        return self._root / checked_tenant(tenant) / str(key.document) / str(key.generation) / key.name

    def _open_upload(self, target: Path, limit: int) -> Upload:
        try:
            return Upload(target, limit=limit)
        except FileNotFoundError:
            for changed in make_directories(target.parent, self._root):
                sync_directory(changed)
            return Upload(target, limit=limit)

    def _put(self, temporary: Path, target: Path, data: bytes) -> None:
        make_directories(temporary.parent, self._root)
        try:
            with temporary.open("xb") as file:
                file.write(data)
            self._promotion.move_now(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)

    def _delete(self, directory: Path, generations: range) -> int:
        removed = 0
        for each in _children(directory):
            if int(each.name) not in generations:
                continue
            for path in list(_files(each)):
                path.unlink(missing_ok=True)
                removed += 1
            sync_directory(each)
            with self._tree:
                remove_empty(each)
        with self._tree:
            if remove_empty(directory):
                sync_directory(directory.parent)
        return removed

    def _delete_one(self, path: Path) -> bool:
        try:
            path.unlink()
        except FileNotFoundError:
            return False
        sync_directory(path.parent)
        with self._tree:
            if remove_empty(path.parent):
                remove_empty(path.parent.parent)
        return True

    def _discard_stale(self, older_than: float) -> int:
        removed = 0
        for tenant in _children(self._root):
            for path in list(_files(tenant / STAGING)):
                with suppress(FileNotFoundError):
                    if path.stat().st_mtime < older_than:
                        path.unlink()
                        removed += 1
        return removed


def _children(directory: Path) -> list[Path]:
    try:
        return sorted(each for each in directory.iterdir() if each.is_dir())
    except FileNotFoundError:
        return []


def _files(directory: Path) -> Iterator[Path]:
    return (each for each in directory.rglob("*") if each.is_file()) if directory.is_dir() else iter(())


def _documents(directory: Path) -> list[tuple[UUID, int]]:
    return [
        (UUID(document.name), int(generation.name))
        for document in _children(directory)
        if document.name != STAGING
        for generation in _children(document)
        if any(_files(generation))
    ]


async def _in_thread(work: Callable[[], T]) -> T:
    def run() -> T:
        with named_errors():
            return work()

    return await asyncio.to_thread(run)

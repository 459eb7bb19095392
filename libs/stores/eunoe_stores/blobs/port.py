"""The BlobStore port: raw bytes, streamed, checksum verified, atomic.

Keys are tenant/document/generation/name and are never shared between documents. Uploads go to a staging area first.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol, runtime_checkable
from uuid import UUID


@dataclass(frozen=True, slots=True)
class BlobKey:
    """Where a blob lies below its tenant. `name` is `source-<16 hex of SHA-256>` or `<stage>-<version>-<part>`."""

    document: UUID
    generation: int
    name: str


@dataclass(frozen=True, slots=True)
class StagedBlob:
    """A finished upload that no document owns yet. `head` is the first 64 KiB, for sniffing."""

    upload_id: str
    size: int
    sha256: str
    head: bytes


@dataclass(frozen=True, slots=True)
class UploadForm:
    """A form of type multipart/form-data: these fields first, then the file in a field `file`."""

    url: str
    fields: Mapping[str, str]


class BlobStore(Protocol):
    """Raw bytes."""

    async def stage(self, tenant: str, upload_id: str, chunks: AsyncIterator[bytes], *, limit: int) -> StagedBlob:
        """Stream to staging; memory stays bounded. Raises `PayloadTooLarge` past `limit` bytes, `StorageFull`; leaves nothing then."""
        ...

    async def promote(self, tenant: str, upload_id: str, key: BlobKey) -> None:
        """Move a staged blob to its key, durably (fsync). May be called twice; replaces an equal-named blob."""
        ...

    async def discard(self, tenant: str, upload_id: str) -> None:
        """Drop a staged blob; nothing when it is not there."""
        ...

    def staged_file(self, tenant: str, upload_id: str) -> AbstractAsyncContextManager[Path]:
        """A path that reads as the staged blob while the context lives. Raises `BlobNotFound`."""
        ...

    async def put(self, tenant: str, key: BlobKey, data: bytes) -> None:
        """Store a small blob, durably and atomically; replaces."""
        ...

    async def read(self, tenant: str, key: BlobKey, *, sha256: str | None = None) -> bytes:
        """The whole blob. Raises `BlobNotFound`; `StoreUnavailable` when the checksum differs."""
        ...

    def stream(self, tenant: str, key: BlobKey) -> AsyncIterator[bytes]:
        """The blob in chunks of at most 256 KiB. Raises `BlobNotFound` at the first chunk."""
        ...

    def as_file(self, tenant: str, key: BlobKey) -> AbstractAsyncContextManager[Path]:
        """A path that reads as the blob while the context lives; the reader must not write to it."""
        ...

    async def delete(self, tenant: str, document: UUID, *, through_generation: int, from_generation: int = 1) -> int:
        """Remove the document's blobs of that and older generations, down to `from_generation`; returns how many."""
        ...

    async def delete_one(self, tenant: str, key: BlobKey) -> bool:
        """Remove one blob; false when it was not there."""
        ...

    async def documents(self, tenant: str) -> Sequence[tuple[UUID, int]]:
        """(document, generation) pairs that have blobs, for audits."""
        ...

    async def tenants(self) -> Sequence[str]:
        """Tenants that have blobs or staged uploads."""
        ...

    async def discard_stale(self, *, older_than: datetime) -> int:
        """Drop staged uploads last written before that time; returns how many."""
        ...


@runtime_checkable
class DirectUploads(Protocol):
    """What some blob stores offer besides: uploads that do not pass through us."""

    async def upload_form(self, tenant: str, upload_id: str, *, limit: int, expires: datetime) -> UploadForm:
        """A form with which somebody may send this upload to the store himself, once or more, until it expires (7 days at most)."""
        ...

    async def measure(self, tenant: str, upload_id: str) -> StagedBlob:
        """What was sent with a form, as if `stage` had taken it in. Raises `BlobNotFound`. Promote it only if its size and checksum are
        those wanted: until the form expires it can be sent again.
        """
        ...

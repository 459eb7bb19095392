"""The accepting calls: check what is said, stage the bytes, recognise the format, commit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from uuid import UUID

from eunoe.v1 import ingest_pb2
from eunoe_contracts.errors import CapabilityUnavailable, ChecksumMismatch, EmptyFile, QueueFull, StorageFull
from eunoe_contracts.tenancy import Principal, Scope
from eunoe_stores.blobs.port import StagedBlob
from eunoe_stores.catalogue.rows import NewDocument

from eunoe_gateway import protobuf, tracing
from eunoe_gateway.access import require
from eunoe_gateway.config import GatewaySettings
from eunoe_gateway.documents.commit import Commit
from eunoe_gateway.documents.content import Recognised, recognise_file, recognise_kept, recognise_text, text_bytes
from eunoe_gateway.documents.restoring import Kept, kept
from eunoe_gateway.documents.submission import Submission, checked, fingerprint_of, identity_of
from eunoe_gateway.keyed_locks import KeyedLocks
from eunoe_gateway.ports import GatewayPorts
from eunoe_gateway.publishing import Publisher

CHUNK = 256 * 1024


class Acceptance:
    """Accepts contents. Accepted means: blob and catalogue row are durable."""

    def __init__(self, ports: GatewayPorts, settings: GatewaySettings, publisher: Publisher, locks: KeyedLocks[UUID]) -> None:
        self._ports = ports
        self._settings = settings
        self._commits = Commit(ports, settings, publisher, locks)
        self._was_full = False

    async def ingest(self, who: Principal, request: ingest_pb2.IngestRequest) -> ingest_pb2.IngestResponse:
        """Accept a text, or a small file as bytes."""
        tenant = require(who, Scope.INGEST)
        if request.WhichOneof("content") == "data":
            start = ingest_pb2.UploadStart(info=request.info)
            uploaded = await self.upload(who, lambda: start, _pieces(request.data))
            return ingest_pb2.IngestResponse(acceptance=uploaded.acceptance)
        accepted = await self.accept_text(tenant, self.checked(request.info), request.text)
        return ingest_pb2.IngestResponse(acceptance=accepted)

    async def accept_text(self, tenant: str, submission: Submission, text: str) -> ingest_pb2.Acceptance:
        """Accept a text. Raises `EmptyContent`, `InvalidEncoding`, `UnsupportedFormat`, `PayloadTooLarge`."""
        recognised = recognise_text(submission)
        data = text_bytes(text)
        # The body is here already, so the queue is looked at when the row is written; once full, before anything is stored.
        if self._was_full:
            await self.admit()
        self._require_space()
        upload_id = self._ports.ids.new()
        staged = await self._ports.blobs.stage(tenant, upload_id, _pieces(data), limit=self._settings.max_text_bytes)
        return await self._commit(tenant, submission, staged, recognised)

    async def upload(
        self, who: Principal, start: Callable[[], ingest_pb2.UploadStart], chunks: AsyncIterator[bytes]
    ) -> ingest_pb2.UploadResponse:
        """Accept a file. The body is not read when the server is full, and not beyond the limit."""
        tenant = require(who, Scope.INGEST)
        await self.admit()
        upload_id = self._ports.ids.new()
        try:
            staged = await self._ports.blobs.stage(tenant, upload_id, chunks, limit=self._settings.max_upload_bytes)
            said = start()
            submission = self.checked(said.info)
            before = kept(who, said, now=self._ports.clock.now())
            verify(staged, said.declared_size if said.HasField("declared_size") else staged.size, said.declared_sha256)
            recognised = recognise_kept(submission) if before is not None else None
            if recognised is None:
                recognised = await recognise_file(tenant, submission, staged, blobs=self._ports.blobs)
        except BaseException:
            await self._ports.blobs.discard(tenant, upload_id)
            raise
        return ingest_pb2.UploadResponse(acceptance=await self._commit(tenant, submission, staged, recognised, before))

    async def accept_staged(self, tenant: str, submission: Submission, staged: StagedBlob) -> ingest_pb2.Acceptance:
        """Accept a file that lies in staging and was found to be what was declared. It stays there when it is refused."""
        recognised = await recognise_file(tenant, submission, staged, blobs=self._ports.blobs)
        return await self._commit(tenant, submission, staged, recognised, keep_refused=True)

    def checked(self, info: ingest_pb2.ContentInfo) -> Submission:
        """The checked info. Raises `InvalidField`, and `CapabilityUnavailable` for a URL."""
        submission = checked(info, metadata_limit=self._settings.max_metadata_bytes)
        if submission.content_type == "url":
            raise CapabilityUnavailable("Fetching URLs is not part of this build yet; send the content itself.")
        return submission

    async def admit(self) -> None:
        """Raise `StorageFull` or `QueueFull` when no new work is taken in."""
        self._require_space()
        self._was_full = await self._ports.catalogue.count_open() >= self._settings.queue_limit
        if self._was_full:
            raise QueueFull(retry_after_s=self._settings.retry_after_s)

    def _require_space(self) -> None:
        if not self._ports.has_space():
            raise StorageFull

    async def _commit(
        self,
        tenant: str,
        submission: Submission,
        staged: StagedBlob,
        recognised: Recognised,
        before: Kept | None = None,
        *,
        keep_refused: bool = False,
    ) -> ingest_pb2.Acceptance:
        new = _new_document(tenant, submission, staged, recognised, trace=tracing.of_call(self._ports.ids))
        if before is not None:
            new = before.on(new)
        try:
            accepted = await self._commits.run(tenant, new, staged.upload_id, keep_refused=keep_refused)
        except QueueFull:
            self._was_full = True
            raise
        return protobuf.acceptance(accepted, recognised.warnings)


def verify(staged: StagedBlob, size: int, sha256: str) -> None:
    """Raises `ChecksumMismatch` when the bytes are not those that were declared, `EmptyFile`."""
    if size != staged.size:
        raise ChecksumMismatch(f"{staged.size} bytes were received, {size} were declared; send the file again.")
    declared = sha256.strip().lower()
    if declared and declared != staged.sha256:
        raise ChecksumMismatch("The bytes received do not have the declared SHA-256; send the file again.")
    if staged.size == 0:
        raise EmptyFile


def _new_document(tenant: str, submission: Submission, staged: StagedBlob, recognised: Recognised, *, trace: str) -> NewDocument:
    return NewDocument(
        id=identity_of(tenant, submission, sha256=staged.sha256, format_id=recognised.format_id),
        container=submission.container,
        content_type=recognised.format_id,
        media_type=recognised.media_type,
        name=submission.name,
        size=staged.size,
        sha256=staged.sha256,
        blob=f"source-{staged.sha256[:16]}",
        fingerprint=fingerprint_of(submission, sha256=staged.sha256, format_id=recognised.format_id),
        metadata=submission.metadata,
        tags=submission.tags,
        custom_id=submission.custom_id,
        event_time=submission.event_time,
        warnings=recognised.warnings,
        is_keyed=bool(submission.idempotency_key),
        trace=trace,
    )


async def _pieces(data: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(data), CHUNK):
        yield data[start : start + CHUNK]
        await asyncio.sleep(0)

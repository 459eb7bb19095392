"""Uploads of large files that go from the caller to the blob store itself, past the gateway, and are then committed here."""

from __future__ import annotations

from datetime import timedelta

from eunoe.v1 import ingest_pb2
from eunoe_contracts.errors import (
    BlobNotFound,
    ChecksumMismatch,
    ContentError,
    DirectUploadUnavailable,
    InvalidField,
    PayloadTooLarge,
    UnsupportedFormat,
    UploadNotFound,
)
from eunoe_contracts.formats import FORMATS
from eunoe_contracts.tenancy import Principal, Scope
from eunoe_stores.blobs.port import DirectUploads
from eunoe_stores.catalogue.rows import AcceptAction, Accepted

from eunoe_gateway import fields, protobuf
from eunoe_gateway.access import require
from eunoe_gateway.config import GatewaySettings
from eunoe_gateway.documents.acceptance import Acceptance, verify
from eunoe_gateway.documents.submission import Submission, identity_of
from eunoe_gateway.ports import GatewayPorts

DIRECT = "direct-"
"""What ids of such uploads begin with: no call can name the staging place of an upload that goes through the gateway."""
SHA256_LENGTH = 64


class DirectUpload:
    """Nothing is kept between the two calls but the bytes; what was never committed is swept as every stale upload is."""

    def __init__(self, ports: GatewayPorts, settings: GatewaySettings, acceptance: Acceptance) -> None:
        self._ports = ports
        self._settings = settings
        self._acceptance = acceptance

    async def begin(self, who: Principal, request: ingest_pb2.BeginUploadRequest) -> ingest_pb2.BeginUploadResponse:
        """See `Application.begin_upload`."""
        tenant = require(who, Scope.INGEST)
        store = self._store()
        if request.declared_size <= 0:
            raise InvalidField("declared_size: the size of the file in bytes")
        if request.declared_size > self._settings.max_upload_bytes:
            raise PayloadTooLarge
        await self._acceptance.admit()
        upload_id = f"{DIRECT}{self._ports.ids.new()}"
        expires = self._ports.clock.now() + timedelta(seconds=self._settings.direct_upload_s)
        form = await store.upload_form(tenant, upload_id, limit=request.declared_size, expires=expires)
        return ingest_pb2.BeginUploadResponse(upload_id=upload_id, url=form.url, fields=form.fields, expires_at=protobuf.timestamp(expires))

    async def commit(self, who: Principal, request: ingest_pb2.CommitUploadRequest) -> ingest_pb2.CommitUploadResponse:
        """See `Application.commit_upload`."""
        tenant = require(who, Scope.INGEST)
        store = self._store()
        upload_id = fields.line(request.upload_id, "upload_id", limit=fields.MAX_KEY_LENGTH)
        if not upload_id.startswith(DIRECT):
            raise InvalidField("upload_id: not one that an upload was begun with")
        sha256 = request.declared_sha256.strip().lower()
        if len(sha256) != SHA256_LENGTH:
            raise InvalidField("declared_sha256: the SHA-256 of the file, in hex")
        submission = self._acceptance.checked(request.info)
        await self._acceptance.admit()
        try:
            staged = await store.measure(tenant, upload_id)
        except BlobNotFound:
            return ingest_pb2.CommitUploadResponse(acceptance=await self._committed(tenant, submission, sha256))
        try:
            verify(staged, request.declared_size, sha256)
            accepted = await self._acceptance.accept_staged(tenant, submission, staged)
        except BlobNotFound:  # the same call, made twice at once, was quicker
            accepted = await self._committed(tenant, submission, sha256)
        except (ChecksumMismatch, UnsupportedFormat, ContentError):
            await self._ports.blobs.discard(tenant, upload_id)  # it will never be accepted; the form still takes it once more
            raise
        return ingest_pb2.CommitUploadResponse(acceptance=accepted)

    def _store(self) -> DirectUploads:
        store = self._ports.blobs
        if not isinstance(store, DirectUploads):
            raise DirectUploadUnavailable
        return store

    async def _committed(self, tenant: str, submission: Submission, sha256: str) -> ingest_pb2.Acceptance:
        """The answer to a repetition: the bytes have gone to their document, whose id follows from what the caller says, but for the
        format that they were found to have.
        """
        ids = {identity_of(tenant, submission, sha256=sha256, format_id=each.id) for each in FORMATS}
        for row in (await self._ports.catalogue.documents_by_id(tenant, sorted(ids))).values():
            if row.sha256 == sha256:
                return protobuf.acceptance(Accepted(row, AcceptAction.DEDUPLICATE), row.warnings)
        raise UploadNotFound

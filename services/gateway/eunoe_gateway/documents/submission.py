"""What a caller says about a content, checked, before anything is read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from eunoe.v1 import ingest_pb2
from eunoe_contracts.content import Metadata
from eunoe_contracts.identity import document_id, keyed_document_id, sha256_hex

from eunoe_gateway import fields


@dataclass(frozen=True, slots=True)
class Submission:
    """The checked `ContentInfo` of a call. `content_type` is as declared: a format id, a media type or empty."""

    container: str
    content_type: str
    name: str
    metadata: Metadata
    tags: tuple[str, ...]
    custom_id: str
    event_time: datetime | None
    idempotency_key: str


def checked(info: ingest_pb2.ContentInfo, *, metadata_limit: int) -> Submission:
    """The submission, or `InvalidField` naming what is wrong."""
    return Submission(
        container=fields.container(info.container),
        content_type=fields.line(info.content_type.strip().lower(), "content_type", limit=fields.MAX_KEY_LENGTH),
        name=fields.line(info.name.strip(), "name"),
        metadata=fields.metadata(info.metadata, limit=metadata_limit),
        tags=fields.tags(info.tags),
        custom_id=fields.line(info.custom_id, "custom_id"),
        event_time=fields.time(info.event_time, "event_time") if info.HasField("event_time") else None,
        idempotency_key=fields.line(info.idempotency_key, "idempotency_key", limit=fields.MAX_KEY_LENGTH),
    )


def identity_of(tenant: str, submission: Submission, *, sha256: str, format_id: str) -> UUID:
    """The document's id. Without a key, equal content under another `custom_id` is another logical document, because the two
    are replaced and erased independently; so the custom id stands beside the name.
    """
    if submission.idempotency_key:
        return keyed_document_id(tenant, submission.idempotency_key)
    name = f"{submission.name}\0{submission.custom_id}" if submission.custom_id else submission.name
    return document_id(tenant, container=submission.container, content_sha256=sha256, content_type=format_id, name=name)


def fingerprint_of(submission: Submission, *, sha256: str, format_id: str) -> str:
    """Hash of all that must be equal when an idempotency key is used again."""
    parts = (submission.container, sha256, format_id, submission.name, submission.custom_id)
    return sha256_hex("\0".join(parts).encode())

"""JSON shapes of the `/v1` door, from protobuf messages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from eunoe.v1 import admin_pb2, ingest_pb2, search_pb2, types_pb2
from eunoe_contracts.errors import InvalidField
from google.protobuf.timestamp_pb2 import Timestamp

from eunoe_gateway.protobuf import plain


def moment(message: Any, field: str) -> str | None:
    """An ISO 8601 time, or None when the field is not set."""
    if not message.HasField(field):
        return None
    stamp: Timestamp = getattr(message, field)
    return stamp.ToDatetime(tzinfo=UTC).isoformat().replace("+00:00", "Z")


def set_moment(stamp: Timestamp, value: datetime | None, field: str) -> None:
    """Write a time; one without a zone is taken as UTC. Raises `InvalidField` outside the years 1 to 9999 of UTC."""
    if value is None:
        return
    try:
        stamp.FromDatetime(value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC))
    except (OverflowError, ValueError) as error:
        raise InvalidField(f"{field}: not a time between the years 1 and 9999") from error


def acceptance(message: ingest_pb2.Acceptance, extra_warnings: list[str]) -> dict[str, Any]:
    """The 202 answer."""
    return {
        "id": message.id,
        "container": message.container,
        "content_type": message.content_type,
        "status": message.status,
        "created_at": moment(message, "created_at"),
        "deduplicated": message.deduplicated,
        "updated": list(message.updated),
        "warnings": [*message.warnings, *extra_warnings],
    }


def document(message: types_pb2.Document) -> dict[str, Any]:
    """A document with everything known of it."""
    stages = {
        each.stage: {
            "state": each.state,
            "code": each.code or None,
            "message": each.message or None,
            "attempts": each.attempts,
            "updated_at": moment(each, "updated_at"),
        }
        for each in message.stages
    }
    return {
        **document_line(message),
        "source_url": message.source_url or None,
        "metadata": plain(message.metadata),
        "tags": list(message.tags),
        "error_code": message.error_code or None,
        "error_message": message.error_message or None,
        "searchable": message.searchable,
        "degraded": list(message.degraded),
        "stages": stages,
        "counts": dict(message.counts),
        "warnings": list(message.warnings),
        "children": list(message.children),
        "generation": message.generation,
        "revision": message.revision,
        "size_bytes": message.size_bytes,
        "sha256": message.sha256,
        "event_time": moment(message, "event_time"),
    }


def document_line(message: types_pb2.Document) -> dict[str, Any]:
    """A document in a list."""
    return {
        "id": message.id,
        "container": message.container,
        "content_type": message.content_type,
        "name": message.name,
        "custom_id": message.custom_id or None,
        "status": message.status,
        "created_at": moment(message, "created_at"),
        "updated_at": moment(message, "updated_at"),
    }


def source(message: types_pb2.Source) -> dict[str, Any]:
    """Where a text stands."""
    return {
        "name": message.name,
        "custom_id": message.custom_id or None,
        "page": message.page if message.HasField("page") else None,
        "start_s": message.start_s if message.HasField("start_s") else None,
        "end_s": message.end_s if message.HasField("end_s") else None,
        "heading_path": list(message.heading_path),
        "speaker": message.speaker or None,
    }


def memory(message: types_pb2.Memory) -> dict[str, Any]:
    """A memory or passage."""
    return {
        "id": message.id,
        "container": message.container,
        "document_id": message.document_id or None,
        "content": message.content,
        "content_hash": message.content_hash,
        "memory_type": message.memory_type,
        "kind": message.kind,
        "metadata": plain(message.metadata),
        "tags": list(message.tags),
        "confidence": message.confidence,
        "is_latest": message.is_latest,
        "superseded_by": message.superseded_by or None,
        "expires_at": moment(message, "expires_at"),
        "created_at": moment(message, "created_at"),
        "updated_at": moment(message, "updated_at"),
        "source": source(message.source),
    }


def related(message: types_pb2.Related) -> dict[str, Any]:
    """A neighbour, in MemoryDB's names."""
    return {**memory(message.memory), "relationship_type": message.relationship_type, "rel_confidence": message.confidence}


def hit(message: search_pb2.SearchHit) -> dict[str, Any]:
    """A search result."""
    return {
        "id": message.id,
        "document_id": message.document_id,
        "container": message.container,
        "content": message.content,
        "memory_type": message.memory_type,
        "kind": message.kind,
        "similarity": message.score,
        "score": message.score,
        "tags": list(message.tags),
        "metadata": plain(message.metadata),
        "created_at": moment(message, "created_at"),
        "is_latest": message.is_latest,
        "superseded_by": message.superseded_by or None,
        "source": source(message.source),
        "related": [
            {
                "id": each.memory.id,
                "content": each.memory.content,
                "memory_type": each.memory.memory_type,
                "relationship": each.relationship_type,
            }
            for each in message.related
        ],
        "arms": {
            name: {"score": arm.score, "rank": arm.rank or None, "contribution": arm.contribution}
            for name, arm in sorted(message.arms.items())
        },
    }


def dead_letter(message: admin_pb2.DeadLetter) -> dict[str, Any]:
    """A dead letter."""
    return {
        "id": message.id,
        "tenant": message.tenant,
        "document_id": message.document_id or None,
        "generation": message.generation,
        "container": message.container,
        "document_name": message.document_name,
        "stage": message.stage,
        "code": message.code,
        "message": message.message,
        "attempts": message.attempts,
        "replays": message.replays,
        "first_failed_at": moment(message, "first_failed_at"),
        "last_failed_at": moment(message, "last_failed_at"),
        "replayed_at": moment(message, "replayed_at"),
        "trace_id": message.trace_id or None,
        "topic": message.topic,
    }


def format_of(message: ingest_pb2.Format) -> dict[str, Any]:
    """A format that can be read, or could be."""
    return {
        "id": message.id,
        "title": message.title,
        "extensions": list(message.extensions),
        "media_types": list(message.media_types),
        "available": message.available,
        "reason": message.reason,
    }

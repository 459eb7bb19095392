"""Rows of the catalogue as protobuf messages, and JSON as protobuf structs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from eunoe.v1 import admin_pb2, ingest_pb2, memory_pb2, types_pb2
from eunoe_contracts.content import Unit
from eunoe_contracts.stages import DocumentStatus, Stage, StageState
from eunoe_contracts.tenancy import ancestors
from eunoe_contracts.trace import parse
from eunoe_stores.catalogue.rows import (
    AcceptAction,
    Accepted,
    ContainerRow,
    DeadLetterRow,
    DocumentRow,
    MemoryRow,
    RemovedMemory,
    TokenRow,
)
from google.protobuf import json_format
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp


def struct(values: Mapping[str, Any]) -> Struct:
    """A JSON object as a struct (numbers become doubles, as in JSON)."""
    made = Struct()
    json_format.ParseDict(dict(values), made)
    return made


def plain(value: Struct) -> dict[str, Any]:
    """A struct as a JSON object; whole numbers become integers again."""
    return {key: _whole(each) for key, each in json_format.MessageToDict(value).items()}


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    return value


def timestamp(value: datetime | None) -> Timestamp | None:
    """A protobuf timestamp; None stays None."""
    if value is None:
        return None
    made = Timestamp()
    made.FromDatetime(value)
    return made


def moment(value: Timestamp) -> datetime:
    """An aware datetime in UTC. Raises `ValueError` when out of range."""
    return value.ToDatetime(tzinfo=UTC)


def acceptance(accepted: Accepted, warnings: tuple[str, ...]) -> ingest_pb2.Acceptance:
    """Answer of an accepting call; `warnings` are those of this call."""
    row = accepted.document
    return ingest_pb2.Acceptance(
        id=str(row.id),
        container=row.container,
        content_type=row.content_type,
        status=row.status,
        created_at=timestamp(row.created_at),
        deduplicated=accepted.action is AcceptAction.DEDUPLICATE,
        updated=accepted.updated,
        warnings=warnings,
        generation=row.generation,
    )


def document(row: DocumentRow, *, searchable: bool | None = None) -> types_pb2.Document:
    """A document with its stages in pipeline order."""
    return types_pb2.Document(
        id=str(row.id),
        container=row.container,
        content_type=row.content_type,
        name=row.name,
        custom_id=row.custom_id,
        status=row.status,
        error_code=row.error_code,
        error_message=row.error_message,
        searchable=is_searchable(row) if searchable is None else searchable,
        degraded=row.degraded,
        stages=[
            types_pb2.StageInfo(
                stage=each.stage,
                state=each.state,
                code=each.code,
                message=each.message,
                attempts=each.attempts,
                updated_at=timestamp(each.updated_at),
            )
            for stage in Stage
            if (each := row.stages.get(stage)) is not None
        ],
        counts=dict(row.counts),
        warnings=row.warnings,
        metadata=struct(row.metadata),
        tags=row.tags,
        generation=row.generation,
        revision=row.revision,
        size_bytes=row.size,
        sha256=row.sha256,
        event_time=timestamp(row.event_time),
        created_at=timestamp(row.created_at),
        updated_at=timestamp(row.updated_at),
        source_url=row.source_url,
        sequence=row.sequence,
    )


def is_searchable(row: DocumentRow) -> bool:
    """True when this generation can be found: it is done, or its passages are already in the index."""
    if row.status.is_end:
        return row.status is DocumentStatus.DONE
    embed = row.stages.get(Stage.EMBED)
    return embed is not None and embed.state is StageState.FINISHED


def _document_source(row: DocumentRow | None) -> types_pb2.Source:
    return types_pb2.Source() if row is None else types_pb2.Source(name=row.name, custom_id=row.custom_id)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def unit_memory(unit: Unit, row: DocumentRow | None) -> types_pb2.Memory:
    """A passage, section or root with its citation; metadata and tags are its document's."""
    source = _document_source(row)
    where = unit.location
    if where.page is not None:
        source.page = where.page
    if where.start_s is not None:
        source.start_s = where.start_s
    if where.end_s is not None:
        source.end_s = where.end_s
    source.heading_path.extend(where.heading_path)
    speaker = row.metadata.get("speaker") if row else None
    source.speaker = where.speaker or (speaker if isinstance(speaker, str) else "")
    return types_pb2.Memory(
        id=str(unit.id),
        container=unit.container,
        document_id=str(unit.document),
        content=unit.text,
        content_hash=_hash(unit.text),
        memory_type=unit.kind,
        kind=unit.kind,
        metadata=struct(row.metadata if row else {}),
        tags=row.tags if row else (),
        confidence=1.0,
        is_latest=True,
        created_at=timestamp(row.created_at) if row else None,
        updated_at=timestamp(row.updated_at) if row else None,
        source=source,
    )


def memory(row: MemoryRow, document_row: DocumentRow | None) -> types_pb2.Memory:
    """An extracted memory; `document_row` is its first source."""
    return types_pb2.Memory(
        id=str(row.id),
        container=row.container,
        document_id=str(row.sources[0]) if row.sources else "",
        content=row.text,
        content_hash=_hash(row.text),
        memory_type=row.kind,
        kind=row.kind,
        metadata=struct(row.metadata),
        tags=row.tags,
        confidence=row.confidence,
        is_latest=row.is_latest,
        superseded_by=_id(row.superseded_by),
        created_at=timestamp(row.created_at),
        updated_at=timestamp(row.updated_at),
        source=_document_source(document_row),
        edited_at=timestamp(row.edited_at),
    )


def removed_memory(row: RemovedMemory) -> memory_pb2.RemovedMemory:
    """What is left of a memory that a caller removed."""
    return memory_pb2.RemovedMemory(id=str(row.id), container=row.container, kind=row.kind, removed_at=timestamp(row.removed_at))


def _id(value: UUID | None) -> str:
    return "" if value is None else str(value)


def container(row: ContainerRow) -> types_pb2.Container:
    """A container; its parent by name."""
    above = ancestors(row.name)
    return types_pb2.Container(
        name=row.name,
        parent=above[0] if above else "",
        memory_count=row.memory_count,
        document_count=row.document_count,
        created_at=timestamp(row.created_at),
    )


def dead_letter(row: DeadLetterRow) -> admin_pb2.DeadLetter:
    """A dead letter."""
    return admin_pb2.DeadLetter(
        id=str(row.id),
        document_id=_id(row.document),
        generation=row.generation,
        container=row.container,
        document_name=row.document_name,
        stage=row.stage,
        code=row.code,
        message=row.message,
        attempts=row.attempts,
        replays=row.replays,
        first_failed_at=timestamp(row.first_failed_at),
        last_failed_at=timestamp(row.last_failed_at),
        replayed_at=timestamp(row.replayed_at),
        trace_id=found.id if (found := parse(row.trace)) else "",
        topic=row.topic,
        tenant=row.tenant,
    )


def token(row: TokenRow) -> admin_pb2.Token:
    """A token without its secret."""
    return admin_pb2.Token(
        id=row.id,
        name=row.name,
        tenant=row.tenant,
        scopes=sorted(row.scopes),
        created_at=timestamp(row.created_at),
        expires_at=timestamp(row.expires_at),
        revoked_at=timestamp(row.revoked_at),
        last_used_at=timestamp(row.last_used_at),
    )

"""Rows of the Catalogue as messages: the text as in the source, and where it stands."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from eunoe.v1 import types_pb2
from eunoe_contracts.content import Location, Metadata, Unit
from eunoe_stores.catalogue.rows import DocumentRow, MemoryRow
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp


def source_of(document: DocumentRow, location: Location | None) -> types_pb2.Source:
    """Name of the document and, for a unit, page, time, headings and speaker."""
    source = types_pb2.Source(name=document.name, custom_id=document.custom_id)
    speaker = document.metadata.get("speaker")
    if location is not None:
        source.heading_path.extend(location.heading_path)
        if location.page is not None:
            source.page = location.page
        if location.start_s is not None:
            source.start_s = location.start_s
        if location.end_s is not None:
            source.end_s = location.end_s
        source.speaker = location.speaker or (speaker if isinstance(speaker, str) else "")
    return source


def unit_fields(unit: Unit, document: DocumentRow) -> dict[str, Any]:
    """A passage, section or root with its citation: the fields that a `Memory` and a `SearchHit` have in common."""
    return {
        "id": str(unit.id),
        "container": unit.container,
        "document_id": str(unit.document),
        "content": unit.text,
        "memory_type": str(unit.kind),
        "kind": str(unit.kind),
        "metadata": struct_of(document.metadata),
        "tags": document.tags,
        "is_latest": True,
        "created_at": timestamp_of(document.created_at),
        "source": source_of(document, unit.location),
    }


def memory_fields(memory: MemoryRow, document: DocumentRow) -> dict[str, Any]:
    """The same of an extracted memory, with the document that it is cited from."""
    return {
        "id": str(memory.id),
        "container": memory.container,
        "document_id": str(document.id),
        "content": memory.text,
        "memory_type": memory.kind,
        "kind": memory.kind,
        "metadata": struct_of(memory.metadata),
        "tags": memory.tags,
        "is_latest": memory.is_latest,
        "superseded_by": str(memory.superseded_by or ""),
        "created_at": timestamp_of(memory.created_at),
        "source": source_of(document, None),
    }


def unit_message(unit: Unit, document: DocumentRow) -> types_pb2.Memory:
    """A passage, section or root as a `Memory`."""
    return types_pb2.Memory(**unit_fields(unit, document), confidence=1.0, updated_at=timestamp_of(document.updated_at))


def memory_message(memory: MemoryRow, document: DocumentRow) -> types_pb2.Memory:
    """An extracted memory."""
    return types_pb2.Memory(**memory_fields(memory, document), confidence=memory.confidence, updated_at=timestamp_of(memory.updated_at))


def struct_of(metadata: Metadata) -> Struct:
    """JSON object as a protobuf Struct."""
    struct = Struct()
    struct.update(dict(metadata))
    return struct


def timestamp_of(time: datetime) -> Timestamp:
    """Aware datetime as a protobuf Timestamp."""
    stamp = Timestamp()
    stamp.FromDatetime(time)
    return stamp

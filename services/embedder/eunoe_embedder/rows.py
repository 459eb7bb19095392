"""Index rows of passages, roots and memories, as pure functions of catalogue rows."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from eunoe_contracts.content import Kind, Metadata, Scalar, Unit
from eunoe_contracts.formats import by_name
from eunoe_contracts.identity import row_key, session_id
from eunoe_models.embedding.port import Vectors
from eunoe_stores.catalogue.rows import DocumentRow, MemoryRow
from eunoe_stores.vectors.port import IndexRow

BEFORE_ALL = -1


def unit_row(unit: Unit, document: DocumentRow, vector: Vectors | None) -> IndexRow:
    """The row of a passage or root."""
    parent, position = _place(unit, document)
    return IndexRow(
        key=row_key(unit.id, unit.generation),
        public_id=unit.id,
        document=document.id,
        generation=unit.generation,
        container=document.container,
        kind=unit.kind,
        body=unit.text,
        context=unit.context or unit.text,
        vector=vector,
        parent=parent,
        position=position,
        title=title(document),
        tags=document.tags,
        attributes=scalars(document.metadata),
        event_time=document.event_time,
        created_at=document.created_at,
        is_turn=bool(unit.location.speaker),
    )


def memory_row(memory: MemoryRow, document: DocumentRow, vector: Vectors | None) -> IndexRow:
    """The row of a memory, found through one of its source documents, whose attributes it shares. It has no neighbours."""
    return IndexRow(
        key=row_key(memory.id, memory.epoch),
        public_id=memory.id,
        document=document.id,
        generation=document.generation,
        container=memory.container,
        kind=Kind(memory.kind),
        body=memory.text,
        context=memory.text,
        vector=vector,
        parent=memory.id,
        position=0,
        title=title(document),
        tags=memory.tags,
        attributes={**scalars(document.metadata), **scalars(memory.metadata)},
        event_time=memory.event_time,
        created_at=memory.created_at,
        is_latest=memory.is_latest,
    )


def title(document: DocumentRow) -> str:
    """`metadata.title`, else the name without a known extension."""
    given = document.metadata.get("title")
    if isinstance(given, str) and given.strip():
        return given.strip()
    return document.name.rpartition(".")[0] if by_name(document.name) else document.name


def scalars(metadata: Metadata) -> Mapping[str, Scalar]:
    """What can be filtered by; lists and objects stay in the catalogue."""
    return {key: value for key, value in metadata.items() if value is None or isinstance(value, (str, int, float, bool))}


def _place(unit: Unit, document: DocumentRow) -> tuple[UUID, int]:
    """What the row's neighbours share and its place among them: the session of a conversation turn, else section or root."""
    if unit.kind is not Kind.PASSAGE:
        return unit.parent or unit.id, BEFORE_ALL
    session, position = document.metadata.get("session"), document.metadata.get("position")
    if not isinstance(session, str) or not session:
        return unit.parent or unit.id, unit.ordinal
    # A bool is an int to Python; `true` is no position.
    place = position if isinstance(position, int) and not isinstance(position, bool) else unit.ordinal
    return session_id(document.tenant, document.container, session), place

"""From rows of the table `memories` to values; sources and orphans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from eunoe_contracts.content import Entity
from sqlalchemy import Connection, bindparam, delete, false, or_, select, true, update

from eunoe_stores.catalogue.rows import MemoryRow, OrphanedMemory
from eunoe_stores.catalogue.sql.documents import NOT_ERASED
from eunoe_stores.catalogue.sql.locks import lock_memories
from eunoe_stores.catalogue.sql.prepared import apply, fetch
from eunoe_stores.catalogue.sql.together import chunks
from eunoe_stores.catalogue.tables import documents, memories, memory_sources

FIELDS = (
    *("id", "container", "kind", "text", "epoch", "confidence", "tags", "metadata", "is_latest", "superseded_by", "event_time"),
    *("created_at", "updated_at", "edited_at"),
)
SELECT = select(*(memories.c[name] for name in FIELDS))

live_sources = memory_sources.join(
    documents, (documents.c.id == memory_sources.c.document) & (documents.c.tenant == memory_sources.c.tenant) & NOT_ERASED
)
"""Sources whose document is not erased; from the erasure on, a memory with no other source is not seen any more."""

has_source = (
    select(memory_sources.c.memory)
    .select_from(live_sources)
    .where(memory_sources.c.memory == memories.c.id, memory_sources.c.tenant == memories.c.tenant)
    .exists()
)
VISIBLE = memories.c.alive == true(), has_source

BY_ID = SELECT.where(memories.c.id.in_(bindparam("ids", expanding=True)), memories.c.tenant == bindparam("of_tenant"), *VISIBLE)
SOURCES = (
    select(memory_sources.c.memory, memory_sources.c.document)
    .select_from(live_sources)
    .where(memory_sources.c.memory.in_(bindparam("ids", expanding=True)), memory_sources.c.tenant == bindparam("of_tenant"))
    .order_by(documents.c.sequence, memory_sources.c.generation)
)
STILL_USED = (
    select(memory_sources.c.memory)
    .where(memory_sources.c.memory.in_(bindparam("ids", expanding=True)), memory_sources.c.tenant == bindparam("of_tenant"))
    .distinct()
)
EPOCHS = select(memories.c.id, memories.c.epoch).where(
    memories.c.id.in_(bindparam("ids", expanding=True)), memories.c.tenant == bindparam("of_tenant"), memories.c.alive == true()
)
BURY = (
    update(memories)
    .where(memories.c.id == bindparam("of_memory"), memories.c.tenant == bindparam("of_tenant"))
    .values(alive=False, text="", tags=[], metadata={}, superseded_by=None, event_time=None, edited_at=None)
)
MARK_REMOVED = (
    update(memories)
    .where(memories.c.id == bindparam("of_memory"), memories.c.tenant == bindparam("of_tenant"), memories.c.alive == false())
    .values(edited_at=bindparam("removed_at"))
)
CONTAINER = select(memories.c.container).where(memories.c.id == bindparam("of_memory"), memories.c.tenant == bindparam("of_tenant"))
OF_DOCUMENT = (
    select(memory_sources.c.memory)
    .where(
        memory_sources.c.document == bindparam("of_document"),
        memory_sources.c.tenant == bindparam("of_tenant"),
        memory_sources.c.generation <= bindparam("through"),
    )
    .distinct()
)
HELD_ELSEWHERE = (
    select(memory_sources.c.memory)
    .select_from(live_sources)
    .where(
        memory_sources.c.memory.in_(bindparam("ids", expanding=True)),
        memory_sources.c.tenant == bindparam("of_tenant"),
        or_(memory_sources.c.document != bindparam("of_document"), memory_sources.c.generation > bindparam("through")),
    )
    .distinct()
)
ALL_EPOCHS = select(memories.c.id, memories.c.epoch, memories.c.alive).where(
    memories.c.id.in_(bindparam("ids", expanding=True)), memories.c.tenant == bindparam("of_tenant")
)
DROP_ALL_SOURCES = delete(memory_sources).where(
    memory_sources.c.memory == bindparam("of_memory"), memory_sources.c.tenant == bindparam("of_tenant")
)


def with_sources(connection: Connection, tenant: str, rows: Sequence[Mapping[Any, Any]]) -> list[MemoryRow]:
    """Values of rows that have at least `FIELDS`, with their sources in order of acceptance."""
    sources: dict[UUID, dict[UUID, None]] = {}
    for ids in chunks(row["id"] for row in rows):
        for memory, document in fetch(connection, SOURCES, {"ids": ids, "of_tenant": tenant}):
            sources.setdefault(memory, {})[document] = None
    return [_row(row, tuple(sources.get(row["id"], ()))) for row in rows]


def read(connection: Connection, tenant: str, ids: Iterable[UUID]) -> dict[UUID, MemoryRow]:
    """Those that are visible."""
    rows: list[Mapping[Any, Any]] = []
    for chunk in chunks(ids):
        rows.extend(fetch(connection, BY_ID, {"ids": chunk, "of_tenant": tenant}).mappings())
    return {row.id: row for row in with_sources(connection, tenant, rows)}


def bury_orphans(connection: Connection, tenant: str, candidates: Iterable[UUID]) -> list[OrphanedMemory]:
    """Blank those of the candidates that have no source left; the row stays, so that the epoch never repeats. They are locked."""
    orphans: list[OrphanedMemory] = []
    for ids in chunks(candidates):
        parameters = {"ids": ids, "of_tenant": tenant}
        used = set(fetch(connection, STILL_USED, parameters).scalars())
        orphans.extend(OrphanedMemory(id_, epoch) for id_, epoch in fetch(connection, EPOCHS, parameters) if id_ not in used)
    if orphans:
        apply(connection, BURY, [{"of_memory": orphan.id, "of_tenant": tenant} for orphan in orphans])
    return orphans


def bury_held_by(connection: Connection, tenant: str, document: UUID, through: int) -> list[OrphanedMemory]:
    """Blank the memories that only these generations of the document hold, and name every projection row that is to go.

    The sources stay, so that a repetition names the same rows: those of dead memories, and of epochs before a living one's.
    """
    of_document = {"of_tenant": tenant, "of_document": document, "through": through}
    stale: list[OrphanedMemory] = []
    held_by_it = fetch(connection, OF_DOCUMENT, of_document).scalars()
    lock_memories(connection, tenant, held_by_it)
    for ids in chunks(held_by_it):
        held = set(fetch(connection, HELD_ELSEWHERE, {**of_document, "ids": ids}).scalars())
        lost = [{"of_memory": id_, "of_tenant": tenant} for id_ in ids if id_ not in held]
        if lost:
            apply(connection, BURY, lost)
        for id_, epoch, is_alive in fetch(connection, ALL_EPOCHS, {"ids": ids, "of_tenant": tenant}):
            stale.extend(OrphanedMemory(id_, each) for each in range(1, epoch if is_alive else epoch + 1))
    return stale


def entity_values(entities: Iterable[Entity]) -> list[dict[str, str]]:
    """Entities as JSON."""
    return [{"id": str(entity.id), "container": entity.container, "name": entity.name, "type": entity.type} for entity in entities]


def entities(values: Iterable[dict[str, str]]) -> tuple[Entity, ...]:
    """Entities from JSON."""
    return tuple(Entity(UUID(value["id"]), value["container"], value["name"], value["type"]) for value in values)


def _row(row: Mapping[str, Any], sources: tuple[UUID, ...]) -> MemoryRow:
    values: dict[str, Any] = {name: row[name] for name in FIELDS}
    return MemoryRow(**{**values, "tags": tuple(values["tags"])}, sources=sources)

"""Writing the memories that a generation is a source of, and taking sources away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Any
from uuid import UUID

from eunoe_contracts.content import Memory
from sqlalchemy import Connection, bindparam, delete, insert, select, update

from eunoe_stores.catalogue.rows import Edit, MemoryRow, OrphanedMemory
from eunoe_stores.catalogue.sql import ledger_rows, memory_rows
from eunoe_stores.catalogue.sql.edits import remember
from eunoe_stores.catalogue.sql.locks import lock_memories
from eunoe_stores.catalogue.sql.part import SqlPart
from eunoe_stores.catalogue.sql.prepared import apply, fetch
from eunoe_stores.catalogue.sql.together import chunks
from eunoe_stores.catalogue.tables import memories, memory_sources
from eunoe_stores.sqlite.port import FEW_ROWS

EXISTING = (
    # Locked here too: one may have come in since `lock_memories`. Of two who insert the same one, the second runs again.
    select(memories)
    .where(memories.c.id.in_(bindparam("ids", expanding=True)), memories.c.tenant == bindparam("of_tenant"))
    .with_for_update()
)
INSERT_MEMORIES = insert(memories)
INSERT_SOURCES = insert(memory_sources)
_of_document = (memory_sources.c.document == bindparam("of_document"), memory_sources.c.tenant == bindparam("of_tenant"))
OF_GENERATION = select(memory_sources.c.memory).where(*_of_document, memory_sources.c.generation == bindparam("of_generation"))
DROP_GENERATION = delete(memory_sources).where(*_of_document, memory_sources.c.generation == bindparam("of_generation"))
THROUGH = select(memory_sources.c.memory).where(*_of_document, memory_sources.c.generation <= bindparam("through")).distinct()
DROP_THROUGH = delete(memory_sources).where(*_of_document, memory_sources.c.generation <= bindparam("through"))


class SqlMemoryWrites(SqlPart):
    """The part of `MemoryCatalogue` that changes sources."""

    async def put_memories(
        self, tenant: str, document: UUID, generation: int, memories: Sequence[Memory], *, now: datetime
    ) -> Sequence[MemoryRow]:
        """See `MemoryCatalogue.put_memories`. The rows are in the order given, each once.

        A memory that loses its last source by this call is gone; its row key of that epoch finds nothing in the catalogue any more.
        """
        given = list({memory.id: memory for memory in memories}.values())

        def work(connection: Connection) -> list[MemoryRow]:
            ledgers = ledger_rows.load(connection, [(tenant, document)])
            ledger = ledgers.get((tenant, document))
            if ledger is None or ledger.is_fenced(generation):
                return []
            before = set(
                fetch(connection, OF_GENERATION, {"of_tenant": tenant, "of_document": document, "of_generation": generation}).scalars()
            )
            lock_memories(connection, tenant, before | {memory.id for memory in given})
            _upsert(connection, tenant, given, now)
            _replace_sources(connection, tenant, document, generation, given, before)
            ledger.proposed(any_memories=bool(given), now=now)
            ledger_rows.store(connection, ledgers)
            found = memory_rows.read(connection, tenant, (memory.id for memory in given))
            return [found[memory.id] for memory in given]

        return await self._database.write(work, durable=False, quick=len(memories) <= FEW_ROWS)

    async def bury_memories(self, tenant: str, document: UUID, *, through_generation: int) -> Sequence[OrphanedMemory]:
        """See `MemoryCatalogue.bury_memories`."""
        return await self._database.write(
            lambda connection: memory_rows.bury_held_by(connection, tenant, document, through_generation),
        )

    async def drop_sources(self, tenant: str, document: UUID, *, through_generation: int) -> Sequence[OrphanedMemory]:
        """See `MemoryCatalogue.drop_sources`."""
        parameters = {"of_tenant": tenant, "of_document": document, "through": through_generation}

        def work(connection: Connection) -> list[OrphanedMemory]:
            touched = fetch(connection, THROUGH, parameters).scalars()
            if not touched:
                return []
            lock_memories(connection, tenant, touched)
            apply(connection, DROP_THROUGH, parameters)
            return memory_rows.bury_orphans(connection, tenant, touched)

        return await self._database.write(work)

    async def delete_memory(self, tenant: str, memory: UUID, *, now: datetime) -> OrphanedMemory | None:
        """See `MemoryCatalogue.delete_memory`."""

        def work(connection: Connection) -> OrphanedMemory | None:
            if lock_memories(connection, tenant, [memory]) == set():
                return None
            apply(connection, memory_rows.DROP_ALL_SOURCES, {"of_tenant": tenant, "of_memory": memory})
            removed = next(iter(memory_rows.bury_orphans(connection, tenant, [memory])), None)
            if removed is not None:
                this = {"of_tenant": tenant, "of_memory": memory}
                apply(connection, memory_rows.MARK_REMOVED, {**this, "removed_at": now})
                remember(connection, Edit(tenant, str(fetch(connection, memory_rows.CONTAINER, this).scalar()), memory, now, deleted=True))
            return removed

        return await self._database.write(work)


def _upsert(connection: Connection, tenant: str, given: Sequence[Memory], now: datetime) -> None:
    existing: dict[UUID, dict[str, Any]] = {}
    for ids in chunks(memory.id for memory in given):
        rows = fetch(connection, EXISTING, {"ids": ids, "of_tenant": tenant}).mappings()
        existing.update({row["id"]: row for row in rows})
    fresh = [_values(tenant, memory, 1, now) for memory in sorted(given, key=lambda each: each.id) if memory.id not in existing]
    if fresh:
        apply(connection, INSERT_MEMORIES, fresh)
    for memory in given:
        row = existing.get(memory.id)
        if row is None:
            continue
        values = _values(tenant, memory, row["epoch"] + 1, now) if not row["alive"] else _joined(row, memory, now)
        if values:
            this = update(memories).where(memories.c.id == memory.id, memories.c.tenant == tenant)
            connection.execute(this.values(values)).close()


def _joined(row: Mapping[str, Any], memory: Memory, now: datetime) -> dict[str, Any]:
    """What a further source adds to a memory that is there: tags, certainty, and a time where none was known."""
    tags = [*row["tags"], *(tag for tag in memory.tags if tag not in row["tags"])]
    wanted = {
        "tags": tags,
        "confidence": max(row["confidence"], memory.confidence),
        "event_time": row["event_time"] or memory.event_time,
    }
    changed = {name: value for name, value in wanted.items() if value != row[name]}
    return {**changed, "updated_at": now} if changed else {}


def _values(tenant: str, memory: Memory, epoch: int, now: datetime) -> dict[str, Any]:
    return {
        "id": memory.id,
        "tenant": tenant,
        "container": memory.container,
        "kind": memory.kind.value,
        "text": memory.text,
        "epoch": epoch,
        "alive": True,
        "confidence": memory.confidence,
        "tags": list(dict.fromkeys(memory.tags)),
        "metadata": dict(memory.metadata),
        "is_latest": True,
        "superseded_by": None,
        "event_time": memory.event_time,
        "created_at": now,
        "updated_at": now,
        "edited_at": None,
    }


def _replace_sources(
    connection: Connection, tenant: str, document: UUID, generation: int, given: Sequence[Memory], before: AbstractSet[UUID]
) -> None:
    if before:
        apply(connection, DROP_GENERATION, {"of_tenant": tenant, "of_document": document, "of_generation": generation})
    sources = [
        {
            "memory": memory.id,
            "document": document,
            "generation": generation,
            "tenant": tenant,
            "unit": memory.unit,
            "ordinal": ordinal,
            "span": memory.span,
            "entities": memory_rows.entity_values(memory.entities),
        }
        for ordinal, memory in enumerate(given)
    ]
    if sources:
        apply(connection, INSERT_SOURCES, sources)
    memory_rows.bury_orphans(connection, tenant, before - {memory.id for memory in given})

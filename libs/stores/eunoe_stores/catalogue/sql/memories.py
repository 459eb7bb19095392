"""Reading and editing memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from eunoe_contracts.content import Entity, Kind, Metadata
from eunoe_contracts.errors import MemoryNotFound
from sqlalchemy import ColumnElement, Connection, bindparam, false, func, select, update

from eunoe_stores.catalogue.rows import Edit, MemoryRow, Page, RemovedMemory
from eunoe_stores.catalogue.sql import memory_rows
from eunoe_stores.catalogue.sql.edits import remember
from eunoe_stores.catalogue.sql.memory_writes import SqlMemoryWrites
from eunoe_stores.catalogue.sql.prepared import fetch
from eunoe_stores.catalogue.tables import memories, memory_sources

RESTS_ON = (
    select(memory_sources.c.memory, memory_sources.c.unit, memory_sources.c.entities)
    .where(
        memory_sources.c.document == bindparam("of_document"),
        memory_sources.c.tenant == bindparam("of_tenant"),
        memory_sources.c.generation == bindparam("of_generation"),
    )
    .order_by(memory_sources.c.ordinal)
)
_removed = memories.c.tenant == bindparam("of_tenant"), memories.c.alive == false(), memories.c.edited_at.is_not(None)
COUNT_REMOVED = select(func.count()).select_from(memories).where(*_removed)
REMOVED = (
    select(memories.c.id, memories.c.container, memories.c.kind, memories.c.edited_at)
    .where(*_removed)
    .order_by(memories.c.edited_at, memories.c.id)
    .limit(bindparam("at_most"))
    .offset(bindparam("beginning"))
)


class SqlMemories(SqlMemoryWrites):
    """`MemoryCatalogue`."""

    async def memories(self, tenant: str, ids: Sequence[UUID]) -> Mapping[UUID, MemoryRow]:
        """See `MemoryCatalogue.memories`. A source that is erased does not count."""
        return await self._database.read(lambda connection: memory_rows.read(connection, tenant, ids), quick=True)

    async def memories_of(self, tenant: str, document: UUID, generation: int) -> Sequence[tuple[MemoryRow, UUID, tuple[Entity, ...]]]:
        """See `MemoryCatalogue.memories_of`; in the order they were put."""
        parameters = {"of_document": document, "of_tenant": tenant, "of_generation": generation}

        def work(connection: Connection) -> list[tuple[MemoryRow, UUID, tuple[Entity, ...]]]:
            links = fetch(connection, RESTS_ON, parameters).all()
            found = memory_rows.read(connection, tenant, (link.memory for link in links))
            return [(found[link.memory], link.unit, memory_rows.entities(link.entities)) for link in links if link.memory in found]

        return await self._database.read(work, quick=True)

    async def list_memories(
        self, tenant: str, *, container: str, document: UUID | None, kinds: frozenset[Kind], page: Page, edited: bool = False
    ) -> tuple[Sequence[MemoryRow], int]:
        """See `MemoryCatalogue.list_memories`. No container, document or kinds means all."""
        conditions: list[ColumnElement[bool]] = [memories.c.tenant == tenant, *memory_rows.VISIBLE]
        if container:
            conditions.append(memories.c.container == container)
        if kinds:
            conditions.append(memories.c.kind.in_(sorted(kind.value for kind in kinds)))
        if edited:
            conditions.append(memories.c.edited_at.is_not(None))
        if document is not None:
            of_document = select(memory_sources.c.memory).where(memory_sources.c.document == document, memory_sources.c.tenant == tenant)
            conditions.append(memories.c.id.in_(of_document))
        rows = (
            memory_rows.SELECT.where(*conditions)
            .order_by(memories.c.created_at.desc(), memories.c.id)
            .limit(page.limit)
            .offset(page.offset)
        )

        def work(connection: Connection) -> tuple[list[MemoryRow], int]:
            total = connection.execute(select(func.count()).select_from(memories).where(*conditions)).scalar_one()
            found = connection.execute(rows).mappings().all()
            return memory_rows.with_sources(connection, tenant, found), int(total)

        return await self._database.read(work)

    async def removed_memories(self, tenant: str, page: Page) -> tuple[Sequence[RemovedMemory], int]:
        """See `MemoryCatalogue.removed_memories`."""
        parameters = {"of_tenant": tenant, "at_most": page.limit, "beginning": page.offset}

        def work(connection: Connection) -> tuple[list[RemovedMemory], int]:
            total = connection.execute(COUNT_REMOVED, {"of_tenant": tenant}).scalar_one()
            return [RemovedMemory(*row) for row in connection.execute(REMOVED, parameters)], int(total)

        return await self._database.read(work)

    async def update_memory(
        self,
        tenant: str,
        memory: UUID,
        *,
        metadata: Metadata | None = None,
        tags: tuple[str, ...] | None = None,
        is_latest: bool | None = None,
        confidence: float | None = None,
        superseded_by: UUID | None = None,
        edited: bool = False,
        now: datetime,
    ) -> MemoryRow:
        """See `MemoryCatalogue.update_memory`. Being the latest again also clears what superseded it."""
        values: dict[str, Any] = {"updated_at": now, **({"edited_at": now} if edited else {})}
        if metadata is not None:
            values["metadata"] = dict(metadata)
        if tags is not None:
            values["tags"] = list(dict.fromkeys(tags))
        if confidence is not None:
            values["confidence"] = confidence
        if is_latest is not None:
            values["is_latest"] = is_latest
            if is_latest:
                values["superseded_by"] = None
        if superseded_by is not None:
            values["superseded_by"] = superseded_by
        this = update(memories).where(memories.c.id == memory, memories.c.tenant == tenant, *memory_rows.VISIBLE).values(values)

        def work(connection: Connection) -> MemoryRow:
            if connection.execute(this).rowcount == 0:
                raise MemoryNotFound
            row = memory_rows.read(connection, tenant, [memory])[memory]
            if edited:
                remember(connection, Edit(tenant, row.container, memory, now))
            return row

        return await self._database.write(work)

"""Memories: passages, sections and roots as they stand in their documents, and what was extracted from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from eunoe.v1 import memory_pb2, types_pb2
from eunoe_contracts.clock import Clock
from eunoe_contracts.content import MEMORY_KINDS, STRUCTURE_KINDS, Kind, Unit
from eunoe_contracts.errors import Conflict, DocumentNotFound, InvalidField, MemoryNotFound
from eunoe_contracts.identity import row_key
from eunoe_contracts.tenancy import Principal, Scope, checked_container
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.catalogue.rows import Edit, MemoryRow, OrphanedMemory
from eunoe_stores.vectors.port import VectorIndex

from eunoe_gateway import fields, protobuf
from eunoe_gateway.access import require, require_any
from eunoe_gateway.documents.sinks import Sinks, remove_orphans
from eunoe_gateway.memory_events import publish_edit
from eunoe_gateway.publishing import Publisher


class Memories:
    """Calls on single memories and lists of them."""

    def __init__(self, sinks: Sinks, *, publisher: Publisher, clock: Clock, metadata_limit: int) -> None:
        self._sinks = sinks
        self._catalogue: Catalogue = sinks.catalogue
        self._vectors: VectorIndex = sinks.vectors
        self._publisher = publisher
        self._clock = clock
        self._metadata_limit = metadata_limit

    async def get(self, who: Principal, memory_id: str) -> types_pb2.Memory:
        """A unit or an extracted memory. Raises `MemoryNotFound`."""
        tenant = require_any(who, Scope.SEARCH, Scope.INGEST)
        identifier = fields.identifier(memory_id)
        unit = await self._unit(tenant, identifier)
        if unit is not None:
            documents = await self._catalogue.documents_by_id(tenant, [unit.document])
            return protobuf.unit_memory(unit, documents.get(unit.document))
        return await self._shown(tenant, await self._memory(tenant, identifier))

    async def _unit(self, tenant: str, identifier: UUID) -> Unit | None:
        return (await self._catalogue.units_by_id(tenant, [identifier])).get(identifier)

    async def _memory(self, tenant: str, identifier: UUID) -> MemoryRow:
        found = (await self._catalogue.memories(tenant, [identifier])).get(identifier)
        if found is None:
            raise MemoryNotFound
        return found

    async def _shown(self, tenant: str, row: MemoryRow) -> types_pb2.Memory:
        return (await self.shown(tenant, [row]))[row.id]

    async def shown(self, tenant: str, rows: Sequence[MemoryRow]) -> Mapping[UUID, types_pb2.Memory]:
        """Extracted memories with the first document that each rests on."""
        first = {each.id: each.sources[0] for each in rows if each.sources}
        documents = await self._catalogue.documents_by_id(tenant, list(dict.fromkeys(first.values())))
        return {each.id: protobuf.memory(each, documents.get(first[each.id]) if each.id in first else None) for each in rows}

    async def list(self, who: Principal, request: memory_pb2.ListMemoriesRequest) -> memory_pb2.ListMemoriesResponse:
        """Extracted memories, newest first; or, with structure kinds and a document, its units in order."""
        tenant = require_any(who, Scope.SEARCH, Scope.INGEST)
        kinds = _kinds(request.kinds)
        document = fields.identifier(request.document_id, "document_id") if request.document_id else None
        window = fields.page(request.limit, request.offset)
        if kinds & STRUCTURE_KINDS:
            if document is None or kinds & MEMORY_KINDS:
                raise InvalidField("kinds: passage, section and root need a document_id and no other kinds beside them")
            row = await self._catalogue.document(tenant, document)
            if row is None:
                raise DocumentNotFound
            generation = await self._catalogue.latest_generation_with_units(tenant, document)
            units = await self._catalogue.units(tenant, document, generation, kinds=kinds) if generation else ()
            chosen = units[window.offset : window.offset + window.limit]
            return memory_pb2.ListMemoriesResponse(memories=[protobuf.unit_memory(each, row) for each in chosen], total=len(units))
        container = checked_container(request.container) if request.container else ""
        rows, total = await self._catalogue.list_memories(
            tenant, container=container, document=document, kinds=kinds, page=window, edited=request.edited
        )
        found = await self.shown(tenant, rows)
        return memory_pb2.ListMemoriesResponse(memories=[found[each.id] for each in rows], total=total)

    async def list_removed(self, who: Principal, request: memory_pb2.ListRemovedMemoriesRequest) -> memory_pb2.ListRemovedMemoriesResponse:
        """Extracted memories that callers removed, in order of their removal."""
        tenant = require_any(who, Scope.SEARCH, Scope.INGEST)
        rows, total = await self._catalogue.removed_memories(tenant, fields.page(request.limit, request.offset))
        return memory_pb2.ListRemovedMemoriesResponse(memories=[protobuf.removed_memory(each) for each in rows], total=total)

    async def update(self, who: Principal, request: memory_pb2.UpdateMemoryRequest) -> types_pb2.Memory:
        """Edit an extracted memory. Raises `MemoryNotFound`, `Conflict` for a unit of a document."""
        tenant = require(who, Scope.INGEST)
        identifier = fields.identifier(request.id)
        await self._refuse_unit(tenant, identifier)
        if request.HasField("confidence") and not 0 <= request.confidence <= 1:
            raise InvalidField("confidence: between 0 and 1")
        has_tags = bool(request.tags) or request.replace_tags
        tags = fields.tags(request.tags)
        if has_tags and not request.replace_tags:
            tags = fields.tags((*(await self._memory(tenant, identifier)).tags, *tags))
        row = await self._catalogue.update_memory(
            tenant,
            identifier,
            metadata=fields.metadata(request.metadata, limit=self._metadata_limit) if request.HasField("metadata") else None,
            tags=tags if has_tags else None,
            is_latest=request.is_latest if request.HasField("is_latest") else None,
            confidence=request.confidence if request.HasField("confidence") else None,
            edited=True,
            now=self._clock.now(),
        )
        if request.HasField("is_latest"):
            await self._vectors.set_latest(tenant, [row_key(row.id, row.epoch)], is_latest=row.is_latest)
        await self._publish(Edit(tenant, row.container, row.id, row.updated_at))
        return await self._shown(tenant, row)

    async def delete(self, who: Principal, memory_id: str) -> memory_pb2.DeleteMemoryResponse:
        """Remove an extracted memory everywhere. Raises `MemoryNotFound`, `Conflict` for a unit of a document."""
        tenant = require(who, Scope.INGEST)
        identifier = fields.identifier(memory_id)
        await self._refuse_unit(tenant, identifier)
        row = await self._memory(tenant, identifier)
        # The projections first: a crash in between leaves the memory to be deleted again, not rows that nobody knows.
        await remove_orphans(tenant, [OrphanedMemory(row.id, row.epoch)], sinks=self._sinks)
        now = self._clock.now()
        removed = await self._catalogue.delete_memory(tenant, identifier, now=now)
        if removed is None:
            raise MemoryNotFound
        await remove_orphans(tenant, [removed], sinks=self._sinks)
        await self._publish(Edit(tenant, row.container, row.id, now, deleted=True))
        return memory_pb2.DeleteMemoryResponse(id=str(identifier), deleted=True)

    async def _publish(self, edit: Edit) -> None:
        await publish_edit(edit, publisher=self._publisher, catalogue=self._catalogue)

    async def _refuse_unit(self, tenant: str, identifier: UUID) -> None:
        unit = await self._unit(tenant, identifier)
        if unit is not None:
            raise Conflict(f"This is a {unit.kind} of a document; it changes and goes with the document only.")


def _kinds(names: Sequence[str]) -> frozenset[Kind]:
    known = {each.value for each in Kind}
    unknown = sorted(set(names) - known)
    if unknown:
        raise InvalidField(f"kinds: some of {', '.join(Kind)}")
    return frozenset(Kind(each) for each in names)

"""What a memory is connected with, and what a container is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from eunoe.v1 import memory_pb2, types_pb2
from eunoe_contracts.clock import Clock
from eunoe_contracts.content import MEMORY_KINDS, Kind
from eunoe_contracts.errors import InvalidField, MemoryNotFound
from eunoe_contracts.identity import row_key
from eunoe_contracts.tenancy import Principal, Scope
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.catalogue.rows import MemoryRow, Page
from eunoe_stores.graph.port import EdgeKind, GraphStore, Neighbour

from eunoe_gateway import fields, protobuf
from eunoe_gateway.access import require
from eunoe_gateway.memories import Memories

STATIC_KINDS = frozenset({Kind.FACT, Kind.PREFERENCE})
STATIC_CONFIDENCE = 0.7
RECENT = timedelta(days=7)
PROFILE_WINDOW = 1000
"""A profile is made of at most this many memories, the newest."""
FACT_LIMIT, RECENT_LIMIT, RELATED_LIMIT = 20, 10, 20


class Relations:
    """Calls that look around a memory or a container."""

    def __init__(self, catalogue: Catalogue, *, graph: GraphStore, memories: Memories, clock: Clock) -> None:
        self._catalogue = catalogue
        self._graph = graph
        self._memories = memories
        self._clock = clock

    async def related(self, who: Principal, request: memory_pb2.RelatedRequest) -> memory_pb2.RelatedResponse:
        """Direct neighbours in the graph in both directions, heaviest first. Raises `MemoryNotFound`, `InvalidField`."""
        tenant = require(who, Scope.SEARCH)
        if request.relationship_type and request.relationship_type not in set(EdgeKind):
            raise InvalidField(f"relationship_type: one of {', '.join(EdgeKind)}")
        kinds = frozenset({EdgeKind(request.relationship_type)}) if request.relationship_type else frozenset()
        identifier = fields.identifier(request.id)
        limit = fields.page(request.limit, 0, default=RELATED_LIMIT).limit
        near = await self._graph.neighbours(tenant, await self._key(tenant, identifier), kinds=kinds, limit=limit)
        known = await self._known(tenant, [each.node.public_id for each in near])
        related = [
            types_pb2.Related(memory=known.get(each.node.public_id) or _node(each), relationship_type=each.kind, confidence=each.weight)
            for each in near
        ]
        return memory_pb2.RelatedResponse(memory_id=str(identifier), related=related)

    async def _key(self, tenant: str, identifier: UUID) -> UUID:
        unit = (await self._catalogue.units_by_id(tenant, [identifier])).get(identifier)
        if unit is not None:
            return row_key(unit.id, unit.generation)
        memory = (await self._catalogue.memories(tenant, [identifier])).get(identifier)
        if memory is None:
            raise MemoryNotFound
        return row_key(memory.id, memory.epoch)

    async def _known(self, tenant: str, ids: Sequence[UUID]) -> Mapping[UUID, types_pb2.Memory]:
        units = await self._catalogue.units_by_id(tenant, ids)
        documents = await self._catalogue.documents_by_id(tenant, [each.document for each in units.values()])
        memories = await self._catalogue.memories(tenant, ids)
        return {
            **{each.id: protobuf.unit_memory(each, documents.get(each.document)) for each in units.values()},
            **await self._memories.shown(tenant, list(memories.values())),
        }

    async def profile(self, who: Principal, request: memory_pb2.ProfileRequest) -> memory_pb2.ProfileResponse:
        """Static facts: fact or preference, latest, confidence at least .7, by confidence, then newest. Recent: seven days."""
        tenant = require(who, Scope.SEARCH)
        container = fields.container(request.container)
        facts = request.fact_limit if request.HasField("fact_limit") else FACT_LIMIT
        recent = request.recent_limit if request.HasField("recent_limit") else RECENT_LIMIT
        if facts < 0 or recent < 0:
            raise InvalidField("fact_limit, recent_limit: must not be negative")
        latest = [each for each in await self._newest(tenant, container) if each.is_latest]
        static = [each for each in latest if each.kind in STATIC_KINDS and each.confidence >= STATIC_CONFIDENCE]
        since = self._clock.now() - RECENT
        return memory_pb2.ProfileResponse(
            container=container,
            # Sorting is stable: equal confidence keeps the newest first.
            static_facts=[each.text for each in sorted(static, key=lambda each: -each.confidence)[:facts]],
            recent_context=[each.text for each in latest if each.created_at >= since][:recent],
        )

    async def _newest(self, tenant: str, container: str) -> Sequence[MemoryRow]:
        page = Page(limit=PROFILE_WINDOW)
        rows, _ = await self._catalogue.list_memories(tenant, container=container, document=None, kinds=MEMORY_KINDS, page=page)
        return rows


def _node(near: Neighbour) -> types_pb2.Memory:
    """Entities, documents and sessions have no text of their own: their name stands for it."""
    node = near.node
    return types_pb2.Memory(
        id=str(node.public_id),
        container=node.container,
        document_id=str(node.document) if node.document else "",
        content=node.name,
        memory_type=node.kind,
        kind=node.kind,
        is_latest=True,
    )

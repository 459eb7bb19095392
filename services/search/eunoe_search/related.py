"""Neighbours of a hit in the graph, with their text from the Catalogue."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from eunoe.v1 import types_pb2
from eunoe_contracts.content import Unit
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.catalogue.rows import DocumentRow, MemoryRow
from eunoe_stores.graph.port import GraphStore, Neighbour, NodeKind

from eunoe_search.citation import memory_message, unit_message
from eunoe_search.filters import allows
from eunoe_search.readable import memories_of, owner_of, units_of

UNITS = frozenset({NodeKind.ROOT, NodeKind.SECTION, NodeKind.PASSAGE})


@dataclass(frozen=True, slots=True)
class _Texts:
    units: Mapping[UUID, Unit]
    memories: Mapping[UUID, MemoryRow]
    documents: Mapping[UUID, DocumentRow]


async def read_related(
    tenant: str, keys: Sequence[UUID], *, graph: GraphStore, catalogue: Catalogue, containers: tuple[str, ...], limit: int
) -> dict[UUID, list[types_pb2.Related]]:
    """At most `limit` neighbours of each row key, heaviest first; outside the containers or unreadable ones are left out."""
    # Twice as many are asked, because some of them may not be readable any more.
    lists = await asyncio.gather(*(graph.neighbours(tenant, key, limit=2 * limit) for key in keys))
    allowed = [[each for each in found if allows(containers, each.node.container)] for found in lists]
    texts = await _texts(tenant, [each for found in allowed for each in found], catalogue=catalogue)
    return {key: _messages(found, texts, limit) for key, found in zip(keys, allowed, strict=True)}


async def _texts(tenant: str, neighbours: Sequence[Neighbour], *, catalogue: Catalogue) -> _Texts:
    nodes = [each.node for each in neighbours]
    units = await units_of(tenant, (node.public_id for node in nodes if node.kind in UNITS), catalogue=catalogue)
    memories = await memories_of(tenant, (node.public_id for node in nodes if node.kind is NodeKind.MEMORY), catalogue=catalogue)
    owners = {unit.document for unit in units.values()} | {source for memory in memories.values() for source in memory.sources}
    owners |= {node.public_id for node in nodes if node.kind is NodeKind.DOCUMENT}
    return _Texts(units, memories, await catalogue.documents_by_id(tenant, sorted(owners)) if owners else {})


def _messages(neighbours: Iterable[Neighbour], texts: _Texts, limit: int) -> list[types_pb2.Related]:
    messages: dict[UUID, types_pb2.Related] = {}
    for each in neighbours:
        memory = None if each.node.public_id in messages else _memory(each, texts)
        if memory is not None:
            related = types_pb2.Related(memory=memory, relationship_type=str(each.kind), confidence=min(1.0, max(0.0, each.weight)))
            messages[each.node.public_id] = related
        if len(messages) == limit:
            break
    return list(messages.values())


def _memory(neighbour: Neighbour, texts: _Texts) -> types_pb2.Memory | None:
    node = neighbour.node
    if node.kind in UNITS:
        unit = texts.units.get(node.public_id)
        document = texts.documents.get(unit.document) if unit is not None else None
        return unit_message(unit, document) if unit is not None and document is not None else None
    if node.kind is NodeKind.MEMORY:
        memory = texts.memories.get(node.public_id)
        source = owner_of(memory, texts.documents) if memory is not None else None
        return memory_message(memory, source) if memory is not None and source is not None else None
    if node.kind is NodeKind.DOCUMENT:
        document = texts.documents.get(node.public_id)
        if document is None:
            return None
        return types_pb2.Memory(
            id=str(node.public_id), document_id=str(node.public_id), container=node.container, content=document.name, kind=str(node.kind)
        )
    return types_pb2.Memory(id=str(node.public_id), container=node.container, content=node.name, kind=str(node.kind), is_latest=True)

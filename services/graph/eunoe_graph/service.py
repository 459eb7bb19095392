"""Use cases of the graph: structure of documents, relations of memories, and their removal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from eunoe_contracts.errors import MalformedEvent
from eunoe_contracts.events import Event
from eunoe_contracts.identity import row_key
from eunoe_contracts.stages import DocumentStatus
from eunoe_safety.event_loop import off_loop
from eunoe_stores.catalogue.port import DocumentCatalogue, MemoryCatalogue, UnitCatalogue
from eunoe_stores.catalogue.rows import DocumentRow
from eunoe_stores.graph.port import Edge, EdgeKind, GraphStore, Node

from eunoe_graph.mention import mentioned_documents, mentioning_passages, mentions
from eunoe_graph.node import entity_node, memory_node
from eunoe_graph.outline import outline
from eunoe_graph.removal import remove_document, remove_generation
from eunoe_graph.session import session_of, turn_order, turn_position

BATCH = 5000
WITHDRAWN = frozenset({DocumentStatus.FAILED, DocumentStatus.CANCELLED})
"""What such a document made is not found any more."""


class StructureCatalogue(DocumentCatalogue, UnitCatalogue, Protocol):
    """The parts of the catalogue that `structure` reads."""


class UndoCatalogue(DocumentCatalogue, UnitCatalogue, MemoryCatalogue, Protocol):
    """The parts of the catalogue that `undo` reads."""


class RelateCatalogue(DocumentCatalogue, MemoryCatalogue, Protocol):
    """The parts of the catalogue that `relate` reads."""


async def structure(event: Event, *, catalogue: StructureCatalogue, graph: GraphStore) -> Sequence[Event]:
    """Store a document's nodes, order, waypoints and mentions; twice stores the same.

    What the document writes is stored before it is looked up from either side, so the result does not depend on which of two
    documents comes first. Nothing happens for a document that is erased or has a newer generation.
    """
    row = await _current(event, catalogue)
    if row is None:
        return []
    units = await catalogue.units(row.tenant, row.id, row.generation)
    drawn = outline(row, units, position=turn_position(row))
    session = session_of(row, units)
    named = await off_loop(sum(len(unit.text) for unit in units), mentions, row, units)
    await _store(row.tenant, (*drawn.nodes, *session.nodes, *named.nodes), (*drawn.edges, *session.edges, *named.edges), graph=graph)
    links = [
        *await mentioned_documents(row, named, graph=graph),
        *await mentioning_passages(row, graph=graph),
        *await turn_order(row, units, graph=graph),
    ]
    await _store(row.tenant, (), links, graph=graph)
    return []


async def relate(event: Event, *, catalogue: RelateCatalogue, graph: GraphStore) -> Sequence[Event]:
    """Store the nodes of a document's memories, the passages they rest on and the entities they name; twice stores the same."""
    row = await _current(event, catalogue)
    if row is None:
        return []
    nodes: dict[UUID, Node] = {}
    edges: list[Edge] = []
    for memory, passage, entities in await catalogue.memories_of(row.tenant, row.id, row.generation):
        node = memory_node(memory)
        nodes[node.key] = node
        source = row_key(passage, row.generation)
        edges.append(Edge(node.key, EdgeKind.DERIVED_FROM, source, row.id, row.generation))
        for entity in entities:
            named = entity_node(entity)
            nodes[named.key] = named
            edges.append(Edge(node.key, EdgeKind.MENTIONS, named.key, row.id, row.generation))
    await _store(row.tenant, list(nodes.values()), edges, graph=graph)
    return []


async def erase(event: Event, *, graph: GraphStore) -> Sequence[Event]:
    """Remove an erased document's nodes and edges, and the memories and sessions that only it held. May run twice."""
    if event.document is None:
        raise MalformedEvent
    await remove_document(event.tenant, event.document, through_generation=event.generation, graph=graph)
    return []


async def undo(event: Event, *, catalogue: UndoCatalogue, graph: GraphStore) -> None:
    """After the fence fell while `structure` or `relate` worked: remove this generation; of an erased document, everything."""
    if event.document is None:
        raise MalformedEvent
    row = await catalogue.document(event.tenant, event.document)
    if row is None:
        await erase(event, graph=graph)
    else:
        units = await catalogue.units(event.tenant, event.document, event.generation)
        await remove_generation(event.tenant, event.document, event.generation, units=[each.id for each in units], graph=graph)
        # By key: a memory written after the passages went is not reached from them any more.
        await graph.delete_nodes(event.tenant, await _unheld(row, event.generation, catalogue=catalogue))


async def _unheld(row: DocumentRow, generation: int, *, catalogue: UndoCatalogue) -> Sequence[UUID]:
    """Nodes of the generation's memories that no other document, nor a newer generation, stands for."""
    memories = [memory for memory, _, _ in await catalogue.memories_of(row.tenant, row.id, generation)]
    sources = await catalogue.documents_by_id(row.tenant, list({source for memory in memories for source in memory.sources}))
    standing = {each.id for each in sources.values() if each.status not in WITHDRAWN and (each.id, each.generation) != (row.id, generation)}
    return [row_key(memory.id, memory.epoch) for memory in memories if not standing.intersection(memory.sources)]


async def _current(event: Event, catalogue: DocumentCatalogue) -> DocumentRow | None:
    if event.document is None:
        raise MalformedEvent
    row = await catalogue.document(event.tenant, event.document)
    return row if row is not None and row.generation == event.generation else None


async def _store(tenant: str, nodes: Sequence[Node], edges: Sequence[Edge], *, graph: GraphStore) -> None:
    # In batches, so that a long document does not keep the writer of the store to itself. A node comes with the first edge that touches
    # it: an entity whose edge was removed in between, by an erasure, would be found by nobody any more.
    waiting = {node.key: node for node in nodes}
    for start in range(0, len(edges), BATCH):
        batch = edges[start : start + BATCH]
        ends = dict.fromkeys(key for edge in batch for key in (edge.source, edge.target) if key in waiting)
        await graph.upsert(tenant, [waiting.pop(key) for key in ends], batch)
    rest = list(waiting.values())
    for start in range(0, len(rest), BATCH):
        await graph.upsert(tenant, rest[start : start + BATCH], ())

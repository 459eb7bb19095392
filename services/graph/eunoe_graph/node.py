"""Nodes of documents, units, sessions, entities and memories. Keys are row keys; what belongs to no document has generation 0."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from eunoe_contracts.content import Entity, Kind, Scalar, Unit
from eunoe_contracts.identity import entity_id, row_key
from eunoe_contracts.names import NAME_TYPE, mention_form
from eunoe_stores.catalogue.rows import DocumentRow, MemoryRow
from eunoe_stores.graph.port import Node, NodeKind

UNIT_NODES: Mapping[Kind, NodeKind] = {Kind.ROOT: NodeKind.ROOT, Kind.SECTION: NodeKind.SECTION, Kind.PASSAGE: NodeKind.PASSAGE}


def document_node(row: DocumentRow) -> Node:
    """The document itself; its name is the form in which texts mention its title."""
    name = mention_form(row.title)
    return Node(row_key(row.id, row.generation), NodeKind.DOCUMENT, row.id, row.container, row.id, row.generation, name)


def unit_node(unit: Unit, *, position: int | None = None) -> Node:
    """A root, section or passage; `position` is that of the conversation turn it belongs to."""
    properties: dict[str, Scalar] = {"ordinal": unit.ordinal}
    if position is not None:
        properties["position"] = position
    key = row_key(unit.id, unit.generation)
    return Node(key, UNIT_NODES[unit.kind], unit.id, unit.container, unit.document, unit.generation, properties=properties)


def session_node(session: UUID, container: str, name: str) -> Node:
    """A conversation session; it lives as long as it has passages."""
    return Node(row_key(session, 0), NodeKind.SESSION, session, container, name=name)


def name_node(tenant: str, container: str, name: str) -> Node:
    """An entity of which only the name is known."""
    return entity_node(Entity(entity_id(tenant, container, name, NAME_TYPE), container, name, NAME_TYPE))


def entity_node(entity: Entity) -> Node:
    """A named thing; it lives as long as something mentions it."""
    return Node(row_key(entity.id, 0), NodeKind.ENTITY, entity.id, entity.container, name=entity.name, properties={"type": entity.type})


def memory_node(memory: MemoryRow) -> Node:
    """A memory in its epoch; it belongs to its sources, not to one document."""
    key = row_key(memory.id, memory.epoch)
    return Node(key, NodeKind.MEMORY, memory.id, memory.container, generation=memory.epoch, properties={"kind": memory.kind})

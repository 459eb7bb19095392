"""The final state of a world as lines that can be compared with those of another one."""

from __future__ import annotations

from typing import Any

from eunoe_contracts.content import STRUCTURE_KINDS
from eunoe_contracts.stages import DocumentStatus
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_stores.catalogue.rows import DocumentRow, Page

from eunoe_standalone.audit import every_document
from eunoe_standalone.simulation.world import World

MANY = 1_000_000


async def digest(world: World) -> dict[str, list[str]]:
    """The final state without what depends on time and on the number of generations."""
    stores = world.stores
    rows = {row.id: row async for row in every_document(stores, DEFAULT_TENANT)}
    found = [
        f"{row.name} {row.custom_id} {row.status} {row.error_code} {sorted(row.counts.items())}" for row in rows.values() if shown(row)
    ]
    units = []
    for row in rows.values():
        if row.status is DocumentStatus.DONE:
            made = await stores.catalogue.units(DEFAULT_TENANT, row.id, row.generation, kinds=STRUCTURE_KINDS)
            units += [f"{unit.id} {unit.kind} {unit.ordinal} {unit.text} {unit.context} {unit.parent}" for unit in made]
    memories, _ = await stores.catalogue.list_memories(DEFAULT_TENANT, container="", document=None, kinds=frozenset(), page=Page(MANY))
    held = [
        f"{each.id} {each.text} {each.confidence:.3f} {sorted(str(source) for source in each.sources if shown(rows.get(source)))}"
        for each in memories
        if any(shown(rows.get(source)) for source in each.sources)
    ]
    return {
        "documents": sorted(found),
        "units": sorted(units),
        "memories": sorted(held),
        "vectors": vector_digest(stores.vectors),
        "graph": graph_digest(stores.graph),
    }


def shown(row: DocumentRow | None) -> bool:
    """Counts for readers."""
    return row is not None and row.status in {DocumentStatus.DONE, DocumentStatus.FAILED}


def vector_digest(vectors: Any) -> list[str]:
    """What is searchable. A memory may be found through any of its sources."""
    found = []
    for row in vectors.rows(DEFAULT_TENANT):
        place = "" if row.kind not in STRUCTURE_KINDS else f"{row.document} {row.parent} {row.position} {row.title}"
        found.append(f"{row.public_id} {row.kind} {row.body} {row.context} {place}")
    return sorted(found)


def graph_digest(graph: Any) -> list[str]:
    """Nodes and edges by public ids."""
    nodes, edges = graph.contents(DEFAULT_TENANT)
    names = {node.key: str(node.public_id) for node in nodes}
    lines = [f"node {node.kind} {node.public_id} {node.name} {node.document}" for node in nodes]
    lines += [
        f"edge {names[edge.source]} {edge.kind} {names[edge.target]} {edge.document} {edge.weight}"
        for edge in edges
        if edge.source in names and edge.target in names
    ]
    return sorted(lines)

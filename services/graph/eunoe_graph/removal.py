"""Removal of what a document left in the graph, with the memories and sessions that nothing else holds."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from eunoe_contracts.identity import row_key
from eunoe_stores.graph.port import EdgeKind, GraphStore, Node, NodeKind

HOLDS = frozenset({EdgeKind.HAS_ROOT, EdgeKind.HAS_SECTION, EdgeKind.HAS_PASSAGE, EdgeKind.DERIVED_FROM})
HELD_BY = frozenset({EdgeKind.HAS_PASSAGE, EdgeKind.DERIVED_FROM})
UNOWNED = frozenset({NodeKind.MEMORY, NodeKind.SESSION})
DEPTH = 3
"""document -> section -> passage -> memory or session."""

ANY_NUMBER = 10_000_000
LOOKED_AT = 1000


async def remove_document(tenant: str, document: UUID, *, through_generation: int, graph: GraphStore) -> None:
    """Everything of that and older generations. May run twice, also after a crash in between."""
    generations = range(1, through_generation + 1)
    reached = await _reached(tenant, document, generations, graph)
    own = [node.key for node in reached if node.document == document]
    # By key too: edges of other documents that point at these nodes go with them.
    await graph.delete_nodes(tenant, [*await _left_alone(tenant, document, generations, reached, graph), *own])
    await graph.delete_document(tenant, document, through_generation=through_generation)


async def remove_generation(tenant: str, document: UUID, generation: int, *, units: Sequence[UUID], graph: GraphStore) -> None:
    """Exactly one generation; what older ones left stays readable. `units` are the ids of its units, as far as they are known."""
    generations = range(generation, generation + 1)
    reached = await _reached(tenant, document, generations, graph)
    own = [row_key(unit, generation) for unit in units]
    own += [node.key for node in reached if node.document == document and node.generation == generation]
    alone = await _left_alone(tenant, document, generations, reached, graph)
    await graph.delete_nodes(tenant, [*alone, *own])


async def _reached(tenant: str, document: UUID, generations: range, graph: GraphStore) -> Sequence[Node]:
    starts = [row_key(document, generation) for generation in generations]
    if not starts:
        return ()
    keys = await graph.hops(tenant, starts, kinds=HOLDS, depth=DEPTH, fan_out=ANY_NUMBER)
    return list((await graph.nodes(tenant, list({*starts, *keys}))).values())


async def _left_alone(tenant: str, document: UUID, generations: range, reached: Sequence[Node], graph: GraphStore) -> list[UUID]:
    alone = []
    for node in reached:
        if node.kind not in UNOWNED:
            continue
        holders = await graph.neighbours(tenant, node.key, kinds=HELD_BY, limit=LOOKED_AT)
        if all(each.node.document == document and each.node.generation in generations for each in holders):
            alone.append(node.key)
    return alone

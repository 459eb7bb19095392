"""Removal of what a document left in the graph, with the memories and sessions that nothing else holds."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from eunoe_contracts.identity import row_key
from eunoe_stores.graph.port import EdgeKind, GraphStore, Node

HOLDS = frozenset({EdgeKind.HAS_ROOT, EdgeKind.HAS_SECTION, EdgeKind.HAS_PASSAGE, EdgeKind.DERIVED_FROM})
DEPTH = 3
"""document -> section -> passage -> memory or session."""

ANY_NUMBER = 10_000_000


async def remove_document(tenant: str, document: UUID, *, through_generation: int, graph: GraphStore) -> None:
    """Everything of that and older generations. May run twice, also after a crash in between."""
    generations = range(1, through_generation + 1)
    reached = await _reached(tenant, document, generations, graph)
    own = [node.key for node in reached if node.document == document]
    # By key too: edges of other documents that point at these nodes go with them. Memories and sessions that nothing else holds fall
    # with the last edge, within the store's transaction: looking first would delete what another document writes in between.
    await graph.delete_nodes(tenant, own)
    await graph.delete_document(tenant, document, through_generation=through_generation)


async def remove_generation(tenant: str, document: UUID, generation: int, *, units: Sequence[UUID], graph: GraphStore) -> None:
    """Exactly one generation; what older ones left stays readable. `units` are the ids of its units, as far as they are known."""
    generations = range(generation, generation + 1)
    reached = await _reached(tenant, document, generations, graph)
    own = [row_key(unit, generation) for unit in units]
    own += [node.key for node in reached if node.document == document and node.generation == generation]
    await graph.delete_nodes(tenant, own)
    # Edges between nodes that others hold too, such as from a shared memory to an entity, are found by their document only.
    await graph.delete_document(tenant, document, from_generation=generation, through_generation=generation)


async def _reached(tenant: str, document: UUID, generations: range, graph: GraphStore) -> Sequence[Node]:
    starts = [row_key(document, generation) for generation in generations]
    if not starts:
        return ()
    keys = await graph.hops(tenant, starts, kinds=HOLDS, depth=DEPTH, fan_out=ANY_NUMBER)
    return list((await graph.nodes(tenant, list({*starts, *keys}))).values())

"""Conversation sessions: a node that holds the passages of all turns, and the order of the turns.

Turns may be stored in any order. Each turn links itself to the nearest ones before and after that are there; when one in between
comes later, its links weigh more, so that the heaviest `next` is always the true one.
"""

from __future__ import annotations

from collections.abc import Sequence

from eunoe_contracts.content import Kind, Unit
from eunoe_contracts.identity import session_id
from eunoe_stores.catalogue.rows import DocumentRow
from eunoe_stores.graph.port import Edge, EdgeKind, GraphStore, Node

from eunoe_graph.node import session_node, unit_node
from eunoe_graph.outline import Drawing

NO_POSITION = -1.0
"""Weight of the edge to a passage whose turn has no position: before all that have one."""


def session_name(row: DocumentRow) -> str:
    """`metadata.session`, empty for a document that is no turn."""
    name = row.metadata.get("session")
    return name if isinstance(name, str) else ""


def turn_position(row: DocumentRow) -> int | None:
    """`metadata.position`, None when there is none."""
    position = row.metadata.get("position")
    return position if session_name(row) and isinstance(position, int) and not isinstance(position, bool) else None


def session_of(row: DocumentRow, units: Sequence[Unit]) -> Drawing:
    """The session's node and an edge to each passage of the turn, whose weight is the turn's position; nothing for no turn."""
    name = session_name(row)
    if not name:
        return Drawing((), ())
    node = session_node(session_id(row.tenant, row.container, name), row.container, name)
    passages = [unit_node(unit) for unit in units if unit.kind is Kind.PASSAGE]
    position = turn_position(row)
    weight = NO_POSITION if position is None else float(position)
    edges = tuple(Edge(node.key, EdgeKind.HAS_PASSAGE, passage.key, row.id, row.generation, weight) for passage in passages)
    return Drawing((node,), edges)


async def turn_order(row: DocumentRow, units: Sequence[Unit], *, graph: GraphStore) -> list[Edge]:
    """`next` edges from the turn before and to the turn after, among the turns that are stored."""
    position = turn_position(row)
    passages = sorted((unit for unit in units if unit.kind is Kind.PASSAGE), key=lambda each: each.ordinal)
    if position is None or not passages:
        return []
    session = session_node(session_id(row.tenant, row.container, session_name(row)), row.container, "")
    earlier, later = await graph.beside(row.tenant, session.key, EdgeKind.HAS_PASSAGE, weight=position, but=row.id)
    edges = []
    if earlier is not None and (before := _position(earlier)) is not None:
        edges.append(_next(earlier, unit_node(passages[0]), position - before))
    if later is not None and (after := _position(later)) is not None:
        edges.append(_next(unit_node(passages[-1]), later, after - position))
    return edges


def _next(source: Node, target: Node, distance: int) -> Edge:
    # Owned by the earlier turn, whoever finds it: one edge, not one from each side.
    owner = source.document or target.document or source.public_id
    return Edge(source.key, EdgeKind.NEXT, target.key, owner, source.generation, 1 / distance)


def _position(node: Node) -> int | None:
    position = node.properties.get("position")
    return position if isinstance(position, int) else None

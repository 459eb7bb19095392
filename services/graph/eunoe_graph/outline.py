"""Structure of a document as nodes and edges: document, root, sections, passages, their order and the waypoints."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from uuid import UUID

from eunoe_contracts.content import Kind, Unit
from eunoe_stores.catalogue.rows import DocumentRow
from eunoe_stores.graph.port import Edge, EdgeKind, Node

from eunoe_graph.node import document_node, unit_node


@dataclass(frozen=True, slots=True)
class Drawing:
    """Nodes and edges that belong together."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def outline(row: DocumentRow, units: Sequence[Unit], *, position: int | None = None) -> Drawing:
    """Document -> root, document -> section -> passage (document -> passage without sections), next in order, and for every
    section a waypoint from the root and one back.
    """
    document = document_node(row)
    nodes = {unit.id: unit_node(unit, position=position if unit.kind is Kind.PASSAGE else None) for unit in units}
    roots, sections, passages = ([unit for unit in units if unit.kind is kind] for kind in (Kind.ROOT, Kind.SECTION, Kind.PASSAGE))
    edges: list[Edge] = []

    def link(source: Node, kind: EdgeKind, target: Node) -> None:
        edges.append(Edge(source.key, kind, target.key, row.id, row.generation))

    for root in roots:
        link(document, EdgeKind.HAS_ROOT, nodes[root.id])
        for section in sections:
            link(nodes[root.id], EdgeKind.WAYPOINT, nodes[section.id])
            link(nodes[section.id], EdgeKind.WAYPOINT, nodes[root.id])
    for section in sections:
        link(document, EdgeKind.HAS_SECTION, nodes[section.id])
    above = _sections_of(sections, passages)
    for passage in passages:
        section_id = above.get(passage.id)
        link(nodes[section_id] if section_id else document, EdgeKind.HAS_PASSAGE, nodes[passage.id])
    for before, after in (*pairwise(sections), *pairwise(passages)):
        link(nodes[before.id], EdgeKind.NEXT, nodes[after.id])
    return Drawing((document, *nodes.values()), tuple(edges))


def _sections_of(sections: Sequence[Unit], passages: Sequence[Unit]) -> dict[UUID, UUID]:
    # By place, not by parent: the parent of a conversation's passage is its session.
    starts = [section.location.char_start for section in sections]
    return {passage.id: sections[max(0, bisect_right(starts, passage.location.char_start) - 1)].id for passage in passages if sections}

"""Mentions: which names a passage writes, and which documents of its container have one of them as title.

Both directions of time give the same edges: a new document looks up the titles its passages write, and the passages written
earlier that write its own title. Each side stores its nodes before it looks, so that of two at the same time one sees the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from eunoe_contracts.content import Kind, Unit
from eunoe_contracts.identity import normalised_statement
from eunoe_contracts.names import MOST_NAMES, mentionable_names
from eunoe_stores.catalogue.rows import DocumentRow
from eunoe_stores.graph.port import Edge, EdgeKind, GraphStore, Node, NodeKind

from eunoe_graph.node import document_node, name_node, unit_node
from eunoe_graph.outline import Drawing

MAIN_WEIGHT = 0.5
PART_WEIGHT = 0.1
"""Weight of a name that is only a part of a longer one, such as `Burton` in `Tim Burton`."""

MOST_MENTIONS = 60_000
FEWEST_NAMES = 8
NAMES_PER_LOOKUP = 400
EARLIER_PASSAGES = 256
"""Most earlier passages linked to a new document; a title written more often than that says nothing."""


def mentions(row: DocumentRow, units: Sequence[Unit]) -> Drawing:
    """Nodes of the names that the passages write, and the edges to them. Pure; a very long document gets fewer names per passage."""
    passages = [unit for unit in units if unit.kind is Kind.PASSAGE]
    most = min(MOST_NAMES, max(FEWEST_NAMES, MOST_MENTIONS // max(1, len(passages))))
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    for passage in passages:
        source = unit_node(passage).key
        for name, is_main in mentionable_names(passage.text, most=most):
            key = normalised_statement(name)
            node = nodes.get(key) or nodes.setdefault(key, name_node(row.tenant, row.container, name))
            weight = MAIN_WEIGHT if is_main else PART_WEIGHT
            edges.append(Edge(source, EdgeKind.MENTIONS, node.key, row.id, row.generation, weight))
    return Drawing(tuple(nodes.values()), tuple(edges))


async def mentioned_documents(row: DocumentRow, drawn: Drawing, *, graph: GraphStore) -> list[Edge]:
    """Edges from this document's passages to the documents whose title they write."""
    names = {node.key: normalised_statement(node.name) for node in drawn.nodes}
    titled: dict[str, dict[UUID, Node]] = {}
    wanted = sorted(set(names.values()))
    for start in range(0, len(wanted), NAMES_PER_LOOKUP):
        found = await graph.by_name(
            row.tenant, wanted[start : start + NAMES_PER_LOOKUP], kinds=frozenset({NodeKind.DOCUMENT}), containers=(row.container,)
        )
        for node in found:
            if node.public_id == row.id:
                continue
            newest = titled.setdefault(normalised_statement(node.name), {})
            known = newest.get(node.public_id)
            if known is None or known.generation < node.generation:
                newest[node.public_id] = node
    return [
        Edge(edge.source, EdgeKind.MENTIONS_DOCUMENT, target.key, row.id, row.generation)
        for edge in drawn.edges
        for target in titled.get(names[edge.target], {}).values()
    ]


async def mentioning_passages(row: DocumentRow, *, graph: GraphStore) -> list[Edge]:
    """Edges from passages of other documents, stored earlier, that write this document's title.

    They belong to the mentioning document, as if it had come later: there is one edge, not one from each side.
    """
    document = document_node(row)
    if not document.name:
        return []
    edges: list[Edge] = []
    entities = await graph.by_name(row.tenant, [document.name], kinds=frozenset({NodeKind.ENTITY}), containers=(row.container,))
    for entity in entities:
        found = await graph.neighbours(row.tenant, entity.key, kinds=frozenset({EdgeKind.MENTIONS}), outgoing=False, limit=EARLIER_PASSAGES)
        edges.extend(
            Edge(each.node.key, EdgeKind.MENTIONS_DOCUMENT, document.key, each.node.document, each.node.generation)
            for each in found
            if each.node.kind is NodeKind.PASSAGE and each.node.document is not None and each.node.document != row.id
        )
    return edges

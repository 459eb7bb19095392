"""Storing nodes and edges.

Every transaction that changes edges locks all their ends first, in the order of their keys: who removes an entity because nothing
mentions it any more must not miss the mention that somebody else is writing (`removal`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import UUID

from eunoe_stores.graph.neo4j.errors import RaceLost
from eunoe_stores.graph.neo4j.rows import LABEL, LABELS, ORDERED, ROWS, TYPES, chunks, edge_row, node_key, node_properties, seek
from eunoe_stores.graph.neo4j.transactions import Ask
from eunoe_stores.graph.port import Edge, EdgeKind, Node

_ALL_LABELS = ":".join(LABELS.values())
# Setting a property locks the node until the end of the transaction, also when it has that value already. An end whose node has not
# come yet gets no labels, and no properties but its names.
NODES = (
    f"UNWIND $rows AS row MERGE (n:{LABEL} {{key: row.key}}) SET n += row.properties "
    f"FOREACH (label IN row.labels | REMOVE n:{_ALL_LABELS} SET n:$(label))"
)


def edges_statement(kind: EdgeKind) -> str:
    """Stores edges of a kind between nodes that are there. An older generation that comes late does not take an edge back."""
    order = ", r.source = row.source" if kind in ORDERED else ""
    return (
        f"UNWIND $rows AS row MATCH (s:{LABEL} {{key: row.source}}) {seek('s')} MATCH (t:{LABEL} {{key: row.target}}) {seek('t')} "
        f"MERGE (s)-[r:{TYPES[kind]} {{document: row.document}}]->(t) "
        f"SET r.tenant = $tenant, r.weight = row.weight{order}, "
        "r.generation = CASE WHEN r.generation > row.generation THEN r.generation ELSE row.generation END "
        "RETURN [count(r)]"
    )


def pieces(nodes: Sequence[Node], edges: Sequence[Edge]) -> Iterator[tuple[list[Node], list[Edge]]]:
    """What goes into one transaction each: all, or `ROWS` edges with the nodes that they touch first, then the nodes without edges.

    So an entity is never there without the edge for which it came, and no transaction holds its locks for long.
    """
    unique = _unique(edges)
    waiting = {each.key: each for each in nodes}
    if len(unique) + len(waiting) <= ROWS:
        yield list(waiting.values()), unique
        return
    for part in chunks(unique):
        ends = dict.fromkeys(key for edge in part for key in (edge.source, edge.target) if key in waiting)
        yield [waiting.pop(key) for key in ends], list(part)
    for rest in chunks(list(waiting.values())):
        yield list(rest), []


async def upsert(ask: Ask, tenant: str, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
    """Insert or replace in one transaction. Raises `RaceLost` when an end went away in the middle."""
    for rows in chunks(_node_rows(tenant, nodes, edges)):
        await ask(NODES, rows=rows)
    by_kind: dict[EdgeKind, list[Edge]] = {}
    for edge in edges:
        by_kind.setdefault(edge.kind, []).append(edge)
    for kind, of_kind in sorted(by_kind.items()):
        (stored,) = await ask(edges_statement(kind), rows=[edge_row(tenant, each) for each in of_kind], tenant=tenant)
        if stored != len(of_kind):
            raise RaceLost


def _node_rows(tenant: str, nodes: Sequence[Node], edges: Sequence[Edge]) -> list[dict[str, object]]:
    """One row for each node and each end that is not among them, by key, so that two writers take their locks in the same order."""
    ends: dict[UUID, None] = dict.fromkeys(key for edge in edges for key in (edge.source, edge.target))
    rows: dict[str, dict[str, object]] = {}
    for end in ends:
        key = node_key(tenant, end)
        rows[key] = {"key": key, "properties": {"tenant": tenant, "id": end.hex}, "labels": []}
    for node in nodes:
        key = node_key(tenant, node.key)
        rows[key] = {"key": key, "properties": node_properties(tenant, node), "labels": [LABELS[node.kind]]}
    return [rows[key] for key in sorted(rows)]


def _unique(edges: Sequence[Edge]) -> list[Edge]:
    """One for each source, kind, target and document: the last weight, the highest generation."""
    found: dict[tuple[UUID, EdgeKind, UUID, UUID], Edge] = {}
    for edge in edges:
        place = (edge.source, edge.kind, edge.target, edge.document)
        before = found.get(place, edge)
        found[place] = replace(edge, generation=before.generation) if before.generation > edge.generation else edge
    return list(found.values())

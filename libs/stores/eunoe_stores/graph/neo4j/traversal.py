"""Reading along edges: direct neighbours, places in an order, and hops with bounds."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from eunoe_stores.graph.neo4j.rows import LABEL, NODE_WIDTH, ORDERED, TYPES, chunks, columns, is_real, node, node_key, seek, types, within
from eunoe_stores.graph.neo4j.transactions import Ask
from eunoe_stores.graph.port import EdgeKind, Neighbour, Node

MAX_VISITED = 10_000
"""Nodes that one search of hops reaches at most, nearest first."""

# The far end of an edge stands without its label in a pattern, so that nothing but the edge leads there.
_KINDS = {type_: kind for kind, type_ in TYPES.items()}


def neighbours_statement(kinds: frozenset[EdgeKind], *, outgoing: bool | None) -> str:
    """The same edge made by several documents counts once, with its highest weight. Properties are read of what remains only."""
    parts = []
    for direction, (left, right) in {True: ("-", "->"), False: ("<-", "-")}.items():
        if outgoing in {None, direction}:
            parts.append(
                f"MATCH (s:{LABEL} {{key: $key}}){left}[r:{types(kinds)}]{right}(n) {seek('s')} "
                f"WHERE s.tenant = $tenant AND {is_real('n')} "
                f"RETURN n, type(r) AS type, max(r.weight) AS weight, {str(direction).lower()} AS outgoing"
            )
    order = "ORDER BY weight DESC, n.id, outgoing DESC, type"
    return (
        f"CALL () {{ {' UNION ALL '.join(parts)} }} WITH n, type, weight, outgoing {order} LIMIT $limit "
        f"RETURN {columns('n', 'type', 'weight', 'outgoing')}"
    )


async def neighbours(ask: Ask, tenant: str, key: UUID, kinds: frozenset[EdgeKind], *, outgoing: bool | None, limit: int) -> list[Neighbour]:
    """Heaviest first, then by key."""
    rows = await ask(neighbours_statement(kinds, outgoing=outgoing), tenant=tenant, key=node_key(tenant, key), limit=limit)
    return [Neighbour(node(row), _KINDS[row[NODE_WIDTH]], row[NODE_WIDTH + 1], row[NODE_WIDTH + 2]) for row in rows]


def beside_statement(kind: EdgeKind, *, below: bool) -> str:
    """First the nearest weight, of an ordered kind by its index, then the best node of that weight."""
    sign, order = ("<", "DESC") if below else (">", "ASC")
    if kind in ORDERED:
        # The planner takes the order of the index only when all of it is asked for.
        edges, source = f"()-[r:{TYPES[kind]}]->(n) {seek('r', 'source', 'weight', of=TYPES[kind])}", "r.source = $key"
        nearest = f"r.source {order}, r.weight {order}"
    else:
        edges, source = f"(s:{LABEL} {{key: $key}})-[r:{TYPES[kind]}]->(n) {seek('s')}", "s.tenant = $tenant"
        nearest = f"r.weight {order}"
    others = f"r.document <> $but AND {is_real('n')}"
    return (
        f"MATCH {edges} WHERE {source} AND r.weight {sign} $weight AND {others} WITH r ORDER BY {nearest} LIMIT 1 WITH r.weight AS nearest "
        f"MATCH {edges} WHERE {source} AND r.weight = nearest AND {others} "
        f"WITH n ORDER BY n.generation DESC, coalesce(n.ordinal, 0) {order}, n.id {order} LIMIT 1 RETURN {columns('n')}"
    )


async def beside(ask: Ask, tenant: str, key: UUID, kind: EdgeKind, *, weight: float, but: UUID) -> tuple[Node | None, Node | None]:
    """Nearest below and above."""
    found: list[Node | None] = []
    for below in (True, False):
        rows = await ask(beside_statement(kind, below=below), tenant=tenant, key=node_key(tenant, key), weight=float(weight), but=but.hex)
        found.append(node(rows[0]) if rows else None)
    before, after = found
    return before, after


def hops_statement(kinds: frozenset[EdgeKind], containers: Sequence[str]) -> str:
    """One level: what is beside any of the keys. Reading stops at the bound, so that a hub costs no more than that."""
    condition, _ = within(containers, "n")
    return (
        f"UNWIND $keys AS key MATCH (s:{LABEL} {{key: key}}) {seek('s')} WHERE s.tenant = $tenant "
        f"CALL (s) {{ MATCH (s)-[:{types(kinds)}]-(n) WHERE {is_real('n')} AND n <> s AND {condition} "
        "WITH DISTINCT n LIMIT $bound RETURN collect(n.id) AS near } "
        "WITH near WHERE size(near) <= $most UNWIND near AS id WITH DISTINCT id LIMIT $enough RETURN collect(id)"
    )


async def hops(
    ask: Ask,
    tenant: str,
    starts: Sequence[UUID],
    kinds: frozenset[EdgeKind],
    *,
    depth: int,
    fan_out: int,
    containers: tuple[str, ...],
) -> dict[UUID, int]:
    """Breadth first, a level at a time; distance of each node reached, without the starts. A start is always left; a node with more than
    `fan_out` neighbours is reached but not left. Stops at `MAX_VISITED`.
    """
    text = hops_statement(kinds, containers)
    _, parameters = within(containers, "n")
    distances = dict.fromkeys(starts, 0)
    frontier = list(distances)
    for distance in range(1, depth + 1):
        # Enough to find all that may still be visited among those that are known already.
        enough = MAX_VISITED + len(distances)
        most = enough if distance == 1 else fan_out
        following: dict[UUID, int] = {}
        for part in chunks(frontier):
            keys = [node_key(tenant, each) for each in part]
            bounds = {"bound": min(most + 1, enough), "most": most, "enough": enough}
            for found in sorted(await ask(text, tenant=tenant, keys=keys, **bounds, **parameters)):
                key = UUID(hex=found)
                if key not in distances and len(distances) + len(following) < MAX_VISITED + len(starts):
                    following[key] = distance
        distances |= following
        frontier = list(following)
    return {key: distance for key, distance in distances.items() if distance}

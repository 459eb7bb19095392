"""Reading along edges: direct neighbours, and hops with bounds."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from eunoe_stores.graph.port import EdgeKind, Neighbour, Node
from eunoe_stores.graph.sqlite.rows import NODE_COLUMNS, NODE_WIDTH, marks, node, within

MAX_VISITED = 10_000
"""Nodes that one search of hops reaches at most, nearest first."""

_SIDES = {True: ("source", "target"), False: ("target", "source")}
"""Where the start stands, and where the neighbour: outgoing edges first."""


def neighbours(
    driver: sqlite3.Connection, tenant: str, key: bytes, kinds: Sequence[str], *, outgoing: bool | None, limit: int
) -> list[Neighbour]:
    """Heaviest first, then by key. The same edge made by several documents counts once, with its highest weight."""
    parts, parameters = [], list[Any]()
    for direction, (start, end) in _SIDES.items():
        if outgoing in {None, direction}:
            parts.append(
                f"SELECT {NODE_COLUMNS}, e.kind, max(e.weight) AS weight, {int(direction)} AS outgoing "  # noqa: S608 - fixed names
                f"FROM graph_edges e JOIN graph_nodes n ON n.tenant = e.tenant AND n.key = e.{end} "
                f"WHERE e.tenant = ? AND e.{start} = ? {_of_kinds(kinds)} GROUP BY n.key, e.kind"
            )
            parameters += [tenant, key, *kinds]
    statement = f"{' UNION ALL '.join(parts)} ORDER BY weight DESC, 1, outgoing DESC, 9 LIMIT ?"
    rows = driver.execute(statement, (*parameters, limit)).fetchall()
    return [Neighbour(node(row), EdgeKind(row[NODE_WIDTH]), row[NODE_WIDTH + 1], bool(row[NODE_WIDTH + 2])) for row in rows]


def beside(
    driver: sqlite3.Connection, tenant: str, key: bytes, kind: EdgeKind, *, weight: float, but: bytes
) -> tuple[Node | None, Node | None]:
    """Nearest below and above. SQLite reads the edges in the order of their index and sorts those of one weight only; the kind stands
    in the text, since a partial index serves no parameter.
    """
    found: list[Node | None] = []
    for sign, order in (("<", "DESC"), (">", "ASC")):
        row = driver.execute(
            f"SELECT {NODE_COLUMNS} FROM graph_edges e JOIN graph_nodes n ON n.tenant = e.tenant AND n.key = e.target "  # noqa: S608 - fixed names
            f"WHERE e.tenant = ? AND e.source = ? AND e.kind = '{kind.value}' AND e.weight {sign} ? AND e.document <> ? "
            f"ORDER BY e.weight {order}, n.generation DESC, n.properties ->> 'ordinal' {order} LIMIT 1",
            (tenant, key, weight, but),
        ).fetchone()
        found.append(None if row is None else node(row))
    before, after = found
    return before, after


def hops(
    driver: sqlite3.Connection,
    tenant: str,
    starts: Sequence[bytes],
    kinds: Sequence[str],
    *,
    depth: int,
    fan_out: int,
    containers: Sequence[str],
) -> dict[bytes, int]:
    """Breadth first; distance of each node reached, without the starts. A start is always left; a node with more than `fan_out`
    neighbours is reached but not left. Stops at `MAX_VISITED`.
    """
    distances = dict.fromkeys(starts, 0)
    frontier = list(distances)
    for distance in range(1, depth + 1):
        following: list[bytes] = []
        for key in frontier:
            most = MAX_VISITED if distance == 1 else fan_out
            near = _near(driver, tenant, key, kinds, containers, limit=most + 1)
            if len(near) > most:
                continue
            for each in sorted(near):
                if each not in distances and len(distances) < MAX_VISITED + len(starts):
                    distances[each] = distance
                    following.append(each)
        frontier = following
    return {key: distance for key, distance in distances.items() if distance}


def _near(
    driver: sqlite3.Connection, tenant: str, key: bytes, kinds: Sequence[str], containers: Sequence[str], *, limit: int
) -> set[bytes]:
    """Neighbours in the allowed containers; reading each side stops at the limit, so that a hub costs no more than that."""
    condition, names = within(containers)
    found: set[bytes] = set()
    for start, end in _SIDES.values():
        statement = (
            f"SELECT DISTINCT n.key FROM graph_edges e JOIN graph_nodes n ON n.tenant = e.tenant AND n.key = e.{end} "  # noqa: S608 - fixed names
            f"WHERE e.tenant = ? AND e.{start} = ? AND e.{end} <> ? {_of_kinds(kinds)} AND {condition} LIMIT ?"
        )
        found.update(row[0] for row in driver.execute(statement, (tenant, key, key, *kinds, *names, limit)))
    return found


def _of_kinds(kinds: Sequence[str]) -> str:
    return f"AND e.kind IN ({marks(kinds)})" if kinds else ""

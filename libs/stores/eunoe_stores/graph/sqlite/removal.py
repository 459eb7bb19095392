"""Taking things out of the graph, and what falls with them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from eunoe_stores.graph.port import EdgeKind, NodeKind

NODES_OF = "SELECT key FROM graph_nodes WHERE tenant = ? AND document = ? AND generation BETWEEN ? AND ?"
EDGES_OF = "SELECT source, target FROM graph_edges WHERE tenant = ? AND document = ? AND generation BETWEEN ? AND ?"
DROP_EDGES_OF = "DELETE FROM graph_edges WHERE tenant = ? AND document = ? AND generation BETWEEN ? AND ?"


def delete_document(driver: sqlite3.Connection, tenant: str, document: bytes, generations: tuple[int, int]) -> int:
    """The document's nodes and edges of those generations, edges that touch the nodes, entities and sessions left alone by it."""
    of_document = (tenant, document, *generations)
    keys = [row[0] for row in driver.execute(NODES_OF, of_document)]
    ends = _ends(driver.execute(EDGES_OF, of_document))
    driver.execute(DROP_EDGES_OF, of_document)
    return _remove(driver, tenant, keys, ends)


def delete_nodes(driver: sqlite3.Connection, tenant: str, keys: Sequence[bytes]) -> int:
    """The nodes, their edges, and entities and sessions left alone by it."""
    return _remove(driver, tenant, keys, set())


def _remove(driver: sqlite3.Connection, tenant: str, keys: Iterable[bytes], ends: set[bytes]) -> int:
    """Returns nodes removed: the given ones that were there, and the orphans among the ends of edges."""
    removed = 0
    for key in dict.fromkeys(keys):
        removed += driver.execute("DELETE FROM graph_nodes WHERE tenant = ? AND key = ?", (tenant, key)).rowcount
        for column in ("source", "target"):
            place = f"FROM graph_edges WHERE tenant = ? AND {column} = ?"
            ends |= _ends(driver.execute(f"SELECT source, target {place}", (tenant, key)))
            driver.execute(f"DELETE {place}", (tenant, key))
    orphans = [key for key in sorted(ends) if _is_orphan(driver, tenant, key)]
    return removed + (_remove(driver, tenant, orphans, set()) if orphans else 0)


def _is_orphan(driver: sqlite3.Connection, tenant: str, key: bytes) -> bool:
    """An entity that nothing mentions, a memory that rests on no passage, a session without edges. Other nodes have an owner who
    removes them.
    """
    found = driver.execute("SELECT kind FROM graph_nodes WHERE tenant = ? AND key = ? AND document IS NULL", (tenant, key)).fetchone()
    if found is None:
        return False
    if found[0] == NodeKind.ENTITY:
        mentions = (tenant, key, EdgeKind.MENTIONS.value)
        return not driver.execute("SELECT 1 FROM graph_edges WHERE tenant = ? AND target = ? AND kind = ? LIMIT 1", mentions).fetchone()
    if found[0] == NodeKind.MEMORY:
        rests_on = (tenant, key, EdgeKind.DERIVED_FROM.value)
        return not driver.execute("SELECT 1 FROM graph_edges WHERE tenant = ? AND source = ? AND kind = ? LIMIT 1", rests_on).fetchone()
    if found[0] == NodeKind.SESSION:
        touching = "SELECT 1 FROM graph_edges WHERE tenant = ? AND {} = ? LIMIT 1"
        return not any(driver.execute(touching.format(column), (tenant, key)).fetchone() for column in ("source", "target"))
    return False


def _ends(rows: Iterable[tuple[bytes, bytes]]) -> set[bytes]:
    return {end for row in rows for end in row}

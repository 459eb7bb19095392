"""Tables of the graph. Both directions of an edge have an index that begins with what a hop asks for."""

from __future__ import annotations

import sqlite3

from eunoe_contracts.errors import SchemaTooNew

SCHEMA_VERSION = 1

_STATEMENTS = (
    "CREATE TABLE IF NOT EXISTS graph_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS graph_nodes (
        tenant TEXT NOT NULL, key BLOB NOT NULL, kind TEXT NOT NULL, public BLOB NOT NULL, container TEXT NOT NULL, document BLOB,
        generation INTEGER NOT NULL, name TEXT NOT NULL, normal_name TEXT NOT NULL, properties TEXT NOT NULL, PRIMARY KEY (tenant, key)
    ) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS graph_nodes_document ON graph_nodes (tenant, document, generation)",
    "CREATE INDEX IF NOT EXISTS graph_nodes_name ON graph_nodes (tenant, normal_name)",
    "CREATE INDEX IF NOT EXISTS graph_nodes_public ON graph_nodes (tenant, public)",
    """CREATE TABLE IF NOT EXISTS graph_edges (
        tenant TEXT NOT NULL, source BLOB NOT NULL, kind TEXT NOT NULL, target BLOB NOT NULL, document BLOB NOT NULL,
        generation INTEGER NOT NULL, weight REAL NOT NULL, PRIMARY KEY (tenant, source, kind, target, document)
    ) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS graph_edges_target ON graph_edges (tenant, target, kind, source)",
    # For what comes before and after in an order, such as the turns of a session.
    "CREATE INDEX IF NOT EXISTS graph_edges_weight ON graph_edges (tenant, source, kind, weight) WHERE kind = 'has_passage'",
    "CREATE INDEX IF NOT EXISTS graph_edges_document ON graph_edges (tenant, document, generation)",
)


def prepare(driver: sqlite3.Connection) -> None:
    """Create what is missing. Raises `SchemaTooNew` for tables of a newer program. May be called twice."""
    for statement in _STATEMENTS:
        driver.execute(statement)
    found = driver.execute("SELECT value FROM graph_meta WHERE name = 'schema'").fetchone()
    if found is not None and int(found[0]) > SCHEMA_VERSION:
        raise SchemaTooNew
    driver.execute("INSERT OR REPLACE INTO graph_meta VALUES ('schema', ?)", (str(SCHEMA_VERSION),))

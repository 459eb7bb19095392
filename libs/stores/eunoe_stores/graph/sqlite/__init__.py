"""The embedded GraphStore: tables in eunoe.db, hops by a bounded breadth-first search."""

from eunoe_stores.graph.sqlite.store import SqliteGraphStore

__all__ = ["SqliteGraphStore"]

"""The embedded VectorIndex: rows in SQLite, postings in FTS5, vectors scanned exactly by numpy."""

from eunoe_stores.vectors.sqlite.index import SqliteVectorIndex

__all__ = ["SqliteVectorIndex"]

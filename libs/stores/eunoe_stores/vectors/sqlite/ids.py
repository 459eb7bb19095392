"""UUIDs of rows. Making one costs ten times as much as finding it again."""

from __future__ import annotations

from functools import lru_cache
from uuid import UUID

KEPT = 1 << 12


@lru_cache(maxsize=KEPT)
def uuid_of(data: bytes) -> UUID:
    """The UUID of sixteen bytes: of documents and parents mostly the same object each time."""
    return UUID(bytes=data)

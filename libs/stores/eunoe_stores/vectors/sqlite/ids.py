"""UUIDs of rows. Making one costs ten times as much as finding it again, and a search meets the same rows in each of its steps."""

from __future__ import annotations

from functools import lru_cache
from uuid import UUID

KEPT = 1 << 15


@lru_cache(maxsize=KEPT)
def uuid_of(data: bytes) -> UUID:
    """The UUID of sixteen bytes: mostly the same object each time, so that dictionaries compare it by identity."""
    return UUID(bytes=data)

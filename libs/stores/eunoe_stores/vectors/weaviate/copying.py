"""Rows of one generation into another one, with the vectors of its model, while both are in use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from eunoe_stores.vectors.port import RowRef
from eunoe_stores.vectors.weaviate.connection import Connection
from eunoe_stores.vectors.weaviate.reading import Properties, Reading
from eunoe_stores.vectors.weaviate.rows import Entry, reference
from eunoe_stores.vectors.weaviate.schema import PROPERTIES
from eunoe_stores.vectors.weaviate.writing import Writing

Embed: TypeAlias = Callable[[str, Sequence[RowRef]], Awaitable[Mapping[UUID, NDArray[np.float32]]]]
"""Vectors of rows by row key. The texts are in the catalogue; a row of which there is none any more is left out."""

_NAMES = tuple(each.name for each in PROPERTIES)
_ROWS = 200


class Copying:
    """From one generation to another one, which must both be of the same connection."""

    def __init__(self, connection: Connection, source: str, target: str) -> None:
        self._source = Reading(connection, source)
        self._target = Reading(connection, target)
        self._writing = Writing(connection)

    async def catch_up(self, tenant: str, embed: Embed) -> int:
        """Copy the tenant's rows that the target lacks or of which it has an older copy, and remove copies of rows that are gone. What
        was written into the target itself is newer and stays. Returns how many rows changed: when it is 0, nothing was left to do.
        May be called again, also after a crash.
        """
        changed = 0
        async for block in _blocks(self._source.every(tenant, ["digest"])):
            there = await self._target.by_key(tenant, list(block), ["digest", "copied"])
            keys = [key for key, row in block.items() if _is_behind(there.get(key), row)]
            changed += await self._copy(tenant, keys, embed) if keys else 0
        async for block in _blocks(self._target.every(tenant, ["copied"])):
            copies = [key for key, row in block.items() if row.get("copied")]
            changed += await self._remove_gone(tenant, copies)
        return changed

    async def _copy(self, tenant: str, keys: Sequence[UUID], embed: Embed) -> int:
        rows = await self._source.by_key(tenant, keys, _NAMES)
        vectors = await embed(tenant, [reference(key, row) for key, row in rows.items()])
        entries = [_copied(key, row, vectors[key]) for key, row in rows.items() if key in vectors]
        await self._writing.insert(self._target.shard(tenant), entries)
        # What was removed or superseded meanwhile was so in both, but there it may have come before the copy.
        copies = [entry.key for entry in entries]
        await self._remove_gone(tenant, copies)
        now = await self._source.by_key(tenant, copies, ["latest"])
        for is_latest in (True, False):
            stale = [key for key, row in now.items() if row["latest"] is is_latest and rows[key]["latest"] is not is_latest]
            await self._writing.set_latest(self._target.shard(tenant), stale, is_latest=is_latest)
        return len(entries)

    async def _remove_gone(self, tenant: str, keys: Sequence[UUID]) -> int:
        there = await self._source.by_key(tenant, keys, ["kind"])
        gone = [key for key in keys if key not in there]
        return await self._writing.remove_keys(self._target.shard(tenant), gone) if gone else 0


def _is_behind(there: Properties | None, row: Properties) -> bool:
    return there is None or bool(there.get("copied") and there["digest"] != row["digest"])


def _copied(key: UUID, row: Properties, vector: NDArray[np.float32]) -> Entry:
    there = {name: value for name, value in row.items() if value is not None and value != []}
    return Entry(key, {**there, "has_vector": True, "copied": True}, np.ascontiguousarray(vector, dtype=np.float32))


async def _blocks(rows: AsyncIterator[tuple[UUID, Properties]]) -> AsyncIterator[dict[UUID, Properties]]:
    block: dict[UUID, Properties] = {}
    async for key, row in rows:
        block[key] = row
        if len(block) == _ROWS:
            yield block
            block = {}
    if block:
        yield block

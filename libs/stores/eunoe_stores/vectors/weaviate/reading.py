"""Rows by key and by condition, and how many there are."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from weaviate.classes.aggregate import GroupByAggregate
from weaviate.collections.classes.filters import FilterReturn

from eunoe_stores.vectors.weaviate.connection import Connection, Shard
from eunoe_stores.vectors.weaviate.filters import keys_among
from eunoe_stores.vectors.weaviate.schema import VECTOR

Properties: TypeAlias = Mapping[str, Any]
MOST = 10_000
"""Rows of one answer, by the server's default limit."""
_KEYS = 500
"""Keys of one look-up."""


class Reading:
    """Look-ups in one collection."""

    def __init__(self, connection: Connection, collection: str) -> None:
        self._connection = connection
        self.collection = collection

    def shard(self, tenant: str) -> Shard:
        """The tenant's part."""
        return self._connection.shard(self.collection, tenant)

    async def by_key(self, tenant: str, keys: Sequence[UUID], names: Sequence[str]) -> dict[UUID, Properties]:
        """Properties of the rows that exist."""
        return {key: found for key, (found, _) in (await self._look_up(tenant, keys, names, vectors=False)).items()}

    async def vectors(self, tenant: str, keys: Sequence[UUID]) -> dict[UUID, NDArray[np.float32] | None]:
        """The rows that exist, with their vectors; None for a row without one."""
        return {key: vector for key, (_, vector) in (await self._look_up(tenant, keys, (), vectors=True)).items()}

    async def whole(
        self, tenant: str, keys: Sequence[UUID], names: Sequence[str]
    ) -> dict[UUID, tuple[Properties, NDArray[np.float32] | None]]:
        """Properties and vectors of the rows that exist."""
        return await self._look_up(tenant, keys, names, vectors=True)

    async def where(self, tenant: str, condition: FilterReturn, names: Sequence[str]) -> dict[UUID, Properties] | None:
        """Rows that satisfy a condition; None when there are more than one answer holds."""
        query = self.shard(tenant).query.fetch_objects(filters=condition, limit=MOST, return_properties=list(names))
        answer = await self._connection.read(query, absent=None)
        found = [] if answer is None else answer.objects
        return None if len(found) == MOST else {each.uuid: each.properties for each in found}

    async def every(self, tenant: str, names: Sequence[str]) -> AsyncIterator[tuple[UUID, Properties]]:
        """All rows, some hundreds at a time, in the order of their keys."""
        after: UUID | None = None
        while True:
            query = self.shard(tenant).query.fetch_objects(limit=_KEYS, after=after, return_properties=list(names))
            answer = await self._connection.read(query, absent=None)
            if answer is None or not answer.objects:
                return
            for each in answer.objects:
                yield each.uuid, each.properties
            after = answer.objects[-1].uuid

    async def count(self, tenant: str, condition: FilterReturn | None = None) -> int:
        """How many rows satisfy the condition."""
        query = self.shard(tenant).aggregate.over_all(filters=condition, total_count=True)
        answer = await self._connection.read(query, absent=None)
        return 0 if answer is None else answer.total_count or 0

    async def groups(self, tenant: str, name: str, limit: int, condition: FilterReturn | None = None) -> dict[str, int]:
        """How many rows have each value of a property."""
        grouping = GroupByAggregate(prop=name, limit=limit)
        query = self.shard(tenant).aggregate.over_all(filters=condition, group_by=grouping, total_count=True)
        answer = await self._connection.read(query, absent=None)
        return {} if answer is None else {str(each.grouped_by.value): each.total_count or 0 for each in answer.groups}

    async def _look_up(
        self, tenant: str, keys: Sequence[UUID], names: Sequence[str], *, vectors: bool
    ) -> dict[UUID, tuple[Properties, NDArray[np.float32] | None]]:
        found: dict[UUID, tuple[Properties, NDArray[np.float32] | None]] = {}
        wanted = list(dict.fromkeys(keys))
        for start in range(0, len(wanted), _KEYS):
            part = wanted[start : start + _KEYS]
            query = self.shard(tenant).query.fetch_objects(
                filters=keys_among(part), limit=len(part), return_properties=list(names), include_vector=[VECTOR] if vectors else False
            )
            answer = await self._connection.read(query, absent=None)
            for each in [] if answer is None else answer.objects:
                found[each.uuid] = each.properties, _vector(each.vector)
        return found


def _vector(vectors: Mapping[str, Any]) -> NDArray[np.float32] | None:
    found = vectors.get(VECTOR)
    return np.array(found, dtype=np.float32) if found is not None and len(found) else None

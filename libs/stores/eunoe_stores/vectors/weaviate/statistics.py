"""What BM25 must know of all of a tenant's rows. Counted by the server, remembered for a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from weaviate.classes.aggregate import Metrics

from eunoe_stores.vectors.weaviate.connection import Connection
from eunoe_stores.vectors.weaviate.filters import among
from eunoe_stores.vectors.weaviate.reading import Reading
from eunoe_stores.vectors.weaviate.schema import length_of

SHORTEST_S = 1.0
LONGEST_S = 30.0
ROWS_PER_SECOND = 1_000
"""Our own changes count at once, those of other processes after a second for each thousand rows: the more there are, the less some
new ones change a weight.
"""
TENANTS = 1_000
COUNTED_ROWS = 5_000
"""Parents of as many rows are counted; of more, estimated from a sample."""
PARENTS_S = 60.0
_SAMPLE = 300
_AT_ONCE = 16


@dataclass(slots=True)
class _Known:
    until: float
    rows: int
    lengths: dict[str, int] = field(default_factory=dict)
    holding: dict[tuple[str, str], int] = field(default_factory=dict)
    parents: int | None = None


class Statistics:
    """Numbers by tenant."""

    def __init__(self, connection: Connection, reading: Reading) -> None:
        self._connection = connection
        self._reading = reading
        self._known: dict[str, _Known] = {}
        self._rows_per_parent: dict[str, tuple[float, float]] = {}
        self._asking = asyncio.Semaphore(_AT_ONCE)

    def forget(self, tenant: str) -> None:
        """Count again: the tenant's rows have changed."""
        self._known.pop(tenant, None)

    async def rows(self, tenant: str) -> int:
        """How many rows there are."""
        return (await self._current(tenant)).rows

    async def length(self, tenant: str, name: str) -> int:
        """How many tokens a field has in all rows together."""
        known = await self._current(tenant)
        if name not in known.lengths:
            column = length_of(name)
            query = self._reading.shard(tenant).aggregate.over_all(return_metrics=Metrics(column).integer(sum_=True))
            answer = await self._connection.read(query, absent=None)
            known.lengths[name] = 0 if answer is None else int(getattr(answer.properties[column], "sum_", 0) or 0)
        return known.lengths[name]

    async def holding(self, tenant: str, name: str, terms: Sequence[str]) -> Mapping[str, int]:
        """In how many rows the field holds each term."""
        known = await self._current(tenant)
        unknown = [term for term in dict.fromkeys(terms) if (name, term) not in known.holding]
        counts = await asyncio.gather(*(self._count(tenant, name, term) for term in unknown))
        known.holding.update(zip(((name, term) for term in unknown), counts, strict=True))
        return {term: known.holding[name, term] for term in terms}

    async def parents(self, tenant: str) -> int:
        """How many parents the rows have: counted when they are few, else estimated."""
        known = await self._current(tenant)
        if known.parents is None:
            if known.rows <= COUNTED_ROWS:
                known.parents = len(await self._reading.groups(tenant, "parent", COUNTED_ROWS + 1))
            else:
                known.parents = round(known.rows / await self._mean_rows(tenant))
        return known.parents

    async def _mean_rows(self, tenant: str) -> float:
        """Rows per parent. A row of a parent with n rows stands for 1/n parents, so the mean of 1/n over a sample of rows tells."""
        now = asyncio.get_running_loop().time()
        until, mean = self._rows_per_parent.get(tenant, (0.0, 1.0))
        if now >= until:
            sample = [found["parent"] for found in await self._sampled(tenant)]
            sizes = await self._reading.groups(tenant, "parent", len(sample), among("parent", sorted(set(sample))))
            mean = len(sample) / sum(1 / sizes.get(parent, 1) for parent in sample)
            self._rows_per_parent[tenant] = now + PARENTS_S, mean
        return mean

    async def _sampled(self, tenant: str) -> list[Mapping[str, str]]:
        """Rows from some place in the order of keys, which says nothing about what is in them."""
        found: list[Mapping[str, str]] = []
        after: UUID | None = uuid4()
        while len(found) < _SAMPLE:
            query = self._reading.shard(tenant).query.fetch_objects(limit=_SAMPLE - len(found), after=after, return_properties=["parent"])
            answer = await self._connection.read(query, absent=None)
            if answer is None or (not answer.objects and after is None):
                break
            found += [each.properties for each in answer.objects]
            after = None  # from the beginning, when the end was reached
        return found

    async def _count(self, tenant: str, name: str, term: str) -> int:
        async with self._asking:
            return await self._reading.count(tenant, among(name, [term]))

    async def _current(self, tenant: str) -> _Known:
        now = asyncio.get_running_loop().time()
        known = self._known.get(tenant)
        if known is None or now >= known.until:
            rows = await self._reading.count(tenant)
            if len(self._known) >= TENANTS:
                self._known.clear()
                self._rows_per_parent.clear()
            known = self._known[tenant] = _Known(now + min(LONGEST_S, max(SHORTEST_S, rows / ROWS_PER_SECOND)), rows)
        return known

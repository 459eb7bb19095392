"""The arms of a search: one list per query, scores as they are, equal scores in the order of keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from eunoe_contracts.errors import ModelMismatch
from numpy.typing import NDArray
from weaviate.classes.query import MetadataQuery

from eunoe_stores.vectors.bm25 import K1, B, idf
from eunoe_stores.vectors.port import IndexFilter, Scored
from eunoe_stores.vectors.weaviate.connection import Connection
from eunoe_stores.vectors.weaviate.filters import condition
from eunoe_stores.vectors.weaviate.matching import Match, Matching, searchable
from eunoe_stores.vectors.weaviate.reading import MOST, Reading
from eunoe_stores.vectors.weaviate.schema import VECTOR
from eunoe_stores.vectors.weaviate.statistics import Statistics

S = TypeVar("S", Scored, Match)
_MORE = 10
"""Rows asked for beyond the limit at least, which mostly show that no equal score was cut off."""


class Arms:
    """The arms over rows."""

    def __init__(self, connection: Connection, reading: Reading, matching: Matching, statistics: Statistics) -> None:
        self._connection = connection
        self._reading = reading
        self._matching = matching
        self._statistics = statistics

    async def dense(self, tenant: str, vector: NDArray[np.float32], where: IndexFilter, limit: int) -> list[Scored]:
        """Nearest rows by cosine. Raises `ModelMismatch` for a vector of another dimension."""
        if not np.isfinite(vector).all():
            raise ModelMismatch
        numbers, filters = vector.tolist(), condition(where)

        async def ask(count: int) -> list[Scored]:
            query = self._reading.shard(tenant).query.near_vector(
                near_vector=numbers,
                target_vector=VECTOR,
                limit=count,
                filters=filters,
                return_metadata=MetadataQuery(distance=True),
                return_properties=False,
            )
            answer = await self._connection.read(query, absent=None)
            return [Scored(each.uuid, 1.0 - (each.metadata.distance or 0.0)) for each in ([] if answer is None else answer.objects)]

        return _best(await _enough(ask, limit), limit)

    async def bm25(self, tenant: str, name: str, tokens: Sequence[str], where: IndexFilter, limit: int) -> list[Scored]:
        """Rows whose field holds any of the tokens."""
        repeats = Counter(searchable(tokens))
        if not repeats:
            return []
        filters = condition(where)

        async def ask(count: int) -> list[Match]:
            return await self._matching.rows(tenant, name, repeats.elements(), filters, count)

        found = await _enough(ask, limit)
        if not found:
            return []
        total = await self._statistics.rows(tenant)
        average = await self._statistics.length(tenant, name) / total if total else 0.0
        holding = await self._statistics.holding(tenant, name, list(repeats))
        weights = {term: count * idf(max(total, holding[term]), holding[term]) for term, count in repeats.items()}

        def scored(match: Match) -> Scored:
            norm = K1 * (1 - B + B * match.length / (average or 1.0))
            # In the order of the query, so that equal texts have equal sums.
            held = ((weight, match.frequencies[term]) for term, weight in weights.items() if term in match.frequencies)
            parts = (weight * frequency / (frequency + norm) for weight, frequency in held)
            return Scored(match.key, sum(parts))

        return _best(map(scored, found), limit)


async def _enough(ask: Callable[[int], Awaitable[list[S]]], limit: int) -> list[S]:
    """Some more rows than wanted. While the last one that was asked for has the score of the last one wanted, its equals may be
    missing: ask for more.
    """
    if limit <= 0:
        return []
    wanted = min(limit + max(_MORE, limit // 2), MOST)
    while True:
        found = await ask(wanted)
        if len(found) < wanted or wanted == MOST or found[-1].score < found[limit - 1].score:
            return found
        wanted = min(4 * wanted, MOST)


def _best(found: Iterable[Scored], limit: int) -> list[Scored]:
    return sorted(found, key=lambda each: (-each.score, each.key))[:limit]

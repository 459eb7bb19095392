"""BM25 over parents, whose text is the bodies of their rows together. Weaviate knows rows only, so their term frequencies are read
and summed here.

The result is exact while at most `parent_rows` rows hold any of the terms. With more, all rows that hold the rare terms are read, and
the best ones by all terms; the frequent terms are then read for the best parents only, and how many parents hold them is estimated.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from weaviate.classes.aggregate import GroupByAggregate, Metrics
from weaviate.collections.classes.filters import FilterReturn

from eunoe_stores.vectors.bm25 import K1, B, idf
from eunoe_stores.vectors.port import IndexFilter
from eunoe_stores.vectors.weaviate.connection import Connection
from eunoe_stores.vectors.weaviate.filters import among, condition
from eunoe_stores.vectors.weaviate.matching import Match, Matching, searchable
from eunoe_stores.vectors.weaviate.reading import Reading
from eunoe_stores.vectors.weaviate.schema import BODY, length_of
from eunoe_stores.vectors.weaviate.statistics import Statistics

_MORE, _LEAST = 3, 100
"""Parents whose frequent terms and lengths are read: three for each one wanted, a hundred at least."""


class Parents:
    """The arm over parents."""

    def __init__(self, connection: Connection, reading: Reading, matching: Matching, statistics: Statistics) -> None:
        self._connection = connection
        self._reading = reading
        self._matching = matching
        self._statistics = statistics

    async def bm25(self, tenant: str, tokens: Sequence[str], where: IndexFilter, limit: int) -> dict[UUID, float]:
        """The best parents, best first."""
        repeats = Counter(searchable(tokens))
        rows = {term: count for term, count in (await self._statistics.holding(tenant, BODY, list(repeats))).items() if count}
        if not rows or limit <= 0:
            return {}
        filters, budget = condition(where), self._connection.settings.parent_rows
        rare, frequent = _parted(rows, budget)
        passing = await self._rows(tenant, rare, filters, budget)
        total, everything = await self._statistics.parents(tenant), await self._statistics.rows(tenant)
        holding = await self._holding(tenant, rare, rows, passing)
        holding |= {term: _expected(total, everything, rows[term]) for term in frequent}
        weights = {term: repeats[term] * idf(total, min(total, count)) for term, count in holding.items()}
        if frequent:
            both = [*passing, *await self._rows(tenant, [*rare, *frequent], filters, budget)]
            passing = list({each.key: each for each in both}.values())
        average = await self._statistics.length(tenant, BODY) / max(1, total) or 1.0
        frequencies, known = _by_parent(passing), Counter[str]()
        for each in passing:
            known[each.properties["parent"]] += each.length
        # What they score at most: of their rows only those that hold a term are known yet.
        rough = {parent: _score(counts, _norm(known[parent], average), weights) for parent, counts in frequencies.items()}
        best = sorted(rough, key=lambda parent: (-rough[parent], parent))[: max(_LEAST, _MORE * limit)]
        if not best:
            return {}
        inside = condition(where, among("parent", best))
        if frequent:
            read = _by_parent(await self._rows(tenant, frequent, inside, 2 * budget))
            for parent in best:
                # Those of the rare terms are known for every row.
                frequencies[parent] = Counter({term: frequencies[parent][term] for term in rare}) + read[parent]
        lengths = await self._lengths(tenant, inside, len(best))
        scores = {UUID(parent): _score(frequencies[parent], _norm(lengths.get(parent, 0), average), weights) for parent in best}
        return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:limit])

    async def _rows(self, tenant: str, terms: Sequence[str], filters: FilterReturn | None, limit: int) -> list[Match]:
        return await self._matching.rows(tenant, BODY, terms, filters, limit, also=["parent"])

    async def _holding(self, tenant: str, terms: Sequence[str], rows: Mapping[str, int], passing: Sequence[Match]) -> dict[str, int]:
        """In how many parents each term is, whatever the filter says of their rows."""
        every = passing
        if any(sum(term in each.frequencies for each in passing) < rows[term] for term in terms):
            every = await self._rows(tenant, terms, None, self._connection.settings.parent_rows)
        seen = Counter(term for each in every for term in each.frequencies)
        parents = Counter(term for counts in _by_parent(every).values() for term in counts)
        # All of them were read, or the best: then in proportion.
        return {term: round(parents[term] * max(1.0, rows[term] / seen[term])) for term in terms if seen[term]}

    async def _lengths(self, tenant: str, filters: FilterReturn | None, parents: int) -> Mapping[str, int]:
        """Tokens of the rows that pass, by parent."""
        query = self._reading.shard(tenant).aggregate.over_all(
            filters=filters,
            group_by=GroupByAggregate(prop="parent", limit=parents),
            return_metrics=Metrics(length_of(BODY)).integer(sum_=True),
        )
        answer = await self._connection.read(query, absent=None)
        groups = [] if answer is None else answer.groups
        return {str(each.grouped_by.value): int(getattr(each.properties[length_of(BODY)], "sum_", 0) or 0) for each in groups}


def _parted(rows: Mapping[str, int], budget: int) -> tuple[list[str], list[str]]:
    """The terms with the fewest rows, up to the budget (one at least), and the others."""
    ordered = sorted(rows, key=lambda term: (rows[term], term))
    taken = read = 0
    while taken < len(ordered) and (not taken or read + rows[ordered[taken]] <= budget):
        read += rows[ordered[taken]]
        taken += 1
    return ordered[:taken], ordered[taken:]


def _expected(parents: int, rows: int, holding: int) -> int:
    """How many parents hold a term of so many rows, were these spread by chance."""
    without = math.pow(1 - holding / rows, rows / max(1, parents))
    return round(parents * (1 - without))


def _by_parent(found: Iterable[Match]) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in found:
        counts[each.properties["parent"]].update({term: int(count) for term, count in each.frequencies.items()})
    return counts


def _norm(length: int, average: float) -> float:
    return K1 * (1 - B + B * length / average)


def _score(counts: Mapping[str, int], norm: float, weights: Mapping[str, float]) -> float:
    # In the order of the weights, so that equal texts have equal sums.
    return sum(weight * counts[term] / (counts[term] + norm) for term, weight in weights.items() if counts.get(term))

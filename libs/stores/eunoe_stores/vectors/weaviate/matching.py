"""Rows that hold words, with the term frequencies from which we score them.

Weaviate finds and orders by the same formula, but takes the number of different words for the length of a text, and where a row was
replaced by one with the same vector, even that of the changed words. So the order is its, for the choice of candidates, and the score
is ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from weaviate.classes.query import MetadataQuery
from weaviate.collections.classes.filters import FilterReturn

from eunoe_stores.vectors.weaviate.connection import Connection
from eunoe_stores.vectors.weaviate.reading import Reading
from eunoe_stores.vectors.weaviate.schema import length_of

_FREQUENCY = re.compile(r"BM25F_([^,:]+)_frequency:([0-9.e+]+)")


@dataclass(frozen=True, slots=True)
class Match:
    """A row and what the server says of it. `length` is that of the field in tokens."""

    key: UUID
    properties: Mapping[str, Any]
    score: float
    length: int
    frequencies: Mapping[str, float]


class Matching:
    """Queries by words in one collection."""

    def __init__(self, connection: Connection, reading: Reading) -> None:
        self._connection = connection
        self._reading = reading

    async def rows(
        self, tenant: str, name: str, terms: Iterable[str], filters: FilterReturn | None, limit: int, *, also: Sequence[str] = ()
    ) -> list[Match]:
        """Rows whose field holds any of the terms, the server's best first; with these other properties."""
        query = self._reading.shard(tenant).query.bm25(
            " ".join(terms),
            query_properties=[name],
            limit=limit,
            filters=filters,
            return_metadata=MetadataQuery(score=True, explain_score=True),
            return_properties=[length_of(name), *also],
        )
        answer = await self._connection.read(query, absent=None)
        return [
            Match(
                each.uuid,
                each.properties,
                each.metadata.score or 0.0,
                int(each.properties[length_of(name)]),
                {term: float(count) for term, count in _FREQUENCY.findall(each.metadata.explain_score or "")},
            )
            for each in ([] if answer is None else answer.objects)
        ]


def searchable(tokens: Iterable[str]) -> list[str]:
    """The tokens without those that no text can have, which would be cut in two or none."""
    return [token for token in tokens if token and not any(letter.isspace() for letter in token)]

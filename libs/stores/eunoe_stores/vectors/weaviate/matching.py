"""Rows that hold words, with the term frequencies from which we score them.

Weaviate finds and orders by the same formula, but its statistics still count what was replaced or removed until it merges its files, and
a term's weight may even fall below zero. So the order is its, for the choice of candidates, and the score is ours.
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

_EXPLAINED = re.compile(r"BM25F_([^,:]+)_(frequency|propLength):([0-9.e+]+)")
_LENGTH = "propLength"


@dataclass(frozen=True, slots=True)
class Match:
    """A row and what the server says of it. `length` is that of the field in tokens."""

    key: UUID
    properties: Mapping[str, Any]
    score: float
    length: float
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
            return_properties=list(also),
        )
        answer = await self._connection.read(query, absent=None)
        return [
            _match(each.uuid, each.properties, each.metadata.score, each.metadata.explain_score)
            for each in ([] if answer is None else answer.objects)
        ]


def searchable(tokens: Iterable[str]) -> list[str]:
    """The tokens without those that no text can have, which would be cut in two or none."""
    return [token for token in tokens if token and not any(letter.isspace() for letter in token)]


def _match(key: UUID, properties: Mapping[str, Any], score: float | None, explained: str | None) -> Match:
    length = 0.0
    frequencies: dict[str, float] = {}
    for term, what, value in _EXPLAINED.findall(explained or ""):
        if what == _LENGTH:
            length = float(value)
        else:
            frequencies[term] = float(value)
    return Match(key, properties, score or 0.0, length, frequencies)

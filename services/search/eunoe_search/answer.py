"""From ranked, readable rows to the hits of the response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eunoe.v1 import search_pb2, types_pb2

from eunoe_search.candidate import Candidate
from eunoe_search.citation import memory_fields, unit_fields
from eunoe_search.readable import Readable


def hit_of(
    row: Readable, candidate: Candidate, score: float, related: Sequence[types_pb2.Related], *, explain: bool
) -> search_pb2.SearchHit:
    """One hit: text as in the source, citation, calibrated score, and each arm's part when asked."""
    arms = {
        name: search_pb2.ArmScore(score=part.score, rank=part.rank, contribution=part.contribution)
        for name, part in (candidate.explanation() if explain else {}).items()
    }
    fields = unit_fields(row.unit, row.document) if row.unit is not None else _memory(row)
    return search_pb2.SearchHit(**fields, score=score, related=related, arms=arms, fused=candidate.score)


def _memory(row: Readable) -> dict[str, Any]:
    if row.memory is None:
        raise ValueError("a readable row holds a unit or a memory")
    return memory_fields(row.memory, row.document)

"""From ranked, readable rows to the hits of the response."""

from __future__ import annotations

from collections.abc import Sequence

from eunoe.v1 import search_pb2, types_pb2

from eunoe_search.candidate import Candidate
from eunoe_search.citation import memory_message, unit_message
from eunoe_search.readable import Readable


def hit_of(
    row: Readable, candidate: Candidate, score: float, related: Sequence[types_pb2.Related], *, explain: bool
) -> search_pb2.SearchHit:
    """One hit: text as in the source, citation, calibrated score, and each arm's part when asked."""
    memory = unit_message(row.unit, row.document) if row.unit is not None else _memory(row)
    arms = {
        name: search_pb2.ArmScore(score=part.score, rank=part.rank, contribution=part.contribution)
        for name, part in (candidate.explanation() if explain else {}).items()
    }
    return search_pb2.SearchHit(
        id=memory.id,
        document_id=memory.document_id,
        container=memory.container,
        content=memory.content,
        memory_type=memory.memory_type,
        kind=memory.kind,
        score=score,
        tags=memory.tags,
        created_at=memory.created_at,
        is_latest=memory.is_latest,
        superseded_by=memory.superseded_by,
        source=memory.source,
        related=related,
        arms=arms,
        metadata=memory.metadata,
        fused=candidate.score,
    )


def _memory(row: Readable) -> types_pb2.Memory:
    if row.memory is None:
        raise ValueError("a readable row holds a unit or a memory")
    return memory_message(row.memory, row.document)

"""The use cases: request in, response out, ports as keyword arguments. No clock of its own, no environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from eunoe.v1 import search_pb2, types_pb2
from eunoe_contracts.clock import Clock
from eunoe_contracts.content import MEMORY_KINDS
from eunoe_contracts.errors import EunoeError, MemoryNotFound
from eunoe_models.embedding.port import EmbeddingModel
from eunoe_stores.analyser import analyse_query
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.graph.port import GraphStore
from eunoe_stores.vectors.port import VectorIndex

from eunoe_search.ablation import without
from eunoe_search.answer import hit_of
from eunoe_search.calibration import calibrated
from eunoe_search.candidate import Candidate, in_order
from eunoe_search.config import SearchSettings
from eunoe_search.query import MAX_LIMIT, Mode, Query, read_query
from eunoe_search.ranking import GRAPH, Ranking, rank
from eunoe_search.readable import Readable, memories_of, read_ranked
from eunoe_search.related import read_related
from eunoe_search.turn_signs import TurnReader


@dataclass(frozen=True, slots=True)
class Found:
    """A validated query, its tokens and its ranking."""

    query: Query
    tokens: Sequence[str]
    ranking: Ranking


async def search(
    tenant: str,
    request: search_pb2.SearchRequest,
    *,
    catalogue: Catalogue,
    vectors: VectorIndex,
    graph: GraphStore,
    model: EmbeddingModel | None,
    turns: TurnReader,
    settings: SearchSettings,
    clock: Clock,
) -> search_pb2.SearchResponse:
    """Ranked, cited hits. `total` counts the distinct candidates. Raises `EmptyContent`, `UnknownFilter`, `InvalidField`,
    `CapabilityUnavailable` (mode vector without a model), `StoreUnavailable` (no arm answered).
    """
    started = clock.monotonic()
    found = await _find(
        tenant, request, catalogue=catalogue, vectors=vectors, graph=graph, model=model, turns=turns, settings=settings, clock=clock
    )
    query, candidates = found.query, found.ranking.candidates
    rows, dropped = await read_ranked(tenant, [each.ref for each in candidates], query.offset + query.limit, catalogue=catalogue)
    page = rows[query.offset :]
    scores = await _scores(tenant, found, page[-1].place + 1 if page else 0, vectors=vectors, model=model, settings=settings)
    related, failed = await _related(tenant, page, candidates, query, graph=graph, catalogue=catalogue, settings=settings)
    hits = [
        hit_of(row, candidates[row.place], scores[row.place], related.get(candidates[row.place].ref.key, ()), explain=query.explain)
        for row in page
    ]
    return search_pb2.SearchResponse(
        query=request.query,
        results=hits,
        total=len(candidates) - dropped,
        limit=query.limit,
        offset=query.offset,
        degraded=dict.fromkeys((*found.ranking.failed, *failed)),
        took_ms=(clock.monotonic() - started) * 1000,
    )


async def explain(
    tenant: str,
    request: search_pb2.ExplainRequest,
    *,
    catalogue: Catalogue,
    vectors: VectorIndex,
    graph: GraphStore,
    model: EmbeddingModel | None,
    turns: TurnReader,
    settings: SearchSettings,
    clock: Clock,
) -> search_pb2.ExplainResponse:
    """Per-arm ranks and scores of one hit, and the time of each step. Raises as `search`, and `MemoryNotFound` when the id is
    not among the candidates of this query.
    """
    found = await _find(
        tenant, request.search, catalogue=catalogue, vectors=vectors, graph=graph, model=model, turns=turns, settings=settings, clock=clock
    )
    for place, candidate in enumerate(found.ranking.candidates):
        if str(candidate.ref.public_id) == request.hit_id.lower():
            rows, _ = await read_ranked(tenant, [candidate.ref], 1, catalogue=catalogue)
            if rows:
                started = clock.monotonic()
                scores = await _scores(tenant, found, place + 1, vectors=vectors, model=model, settings=settings)
                timings = {**found.ranking.timings, "calibration": (clock.monotonic() - started) * 1000}
                hit = hit_of(rows[0], candidate, scores[place], (), explain=True)
                return search_pb2.ExplainResponse(hit=hit, timings_ms=timings)
    raise MemoryNotFound("hit_id: not among the candidates of this query")


async def _find(
    tenant: str,
    request: search_pb2.SearchRequest,
    *,
    catalogue: Catalogue,
    vectors: VectorIndex,
    graph: GraphStore,
    model: EmbeddingModel | None,
    turns: TurnReader,
    settings: SearchSettings,
    clock: Clock,
) -> Found:
    query = read_query(request, default_fusion=settings.fusion, has_model=model is not None)
    settings = without(settings, query.ablate)
    tokens = analyse_query(query.text)
    ranking = await rank(tenant, query, tokens, vectors=vectors, graph=graph, model=model, turns=turns, settings=settings, clock=clock)
    if not query.where.latest_only:
        ranking = await _demoted(tenant, ranking, catalogue=catalogue, settings=settings)
    return Found(query, tokens, ranking)


async def _scores(
    tenant: str, found: Found, depth: int, *, vectors: VectorIndex, model: EmbeddingModel | None, settings: SearchSettings
) -> Sequence[float]:
    """Reported scores of the first candidates, at least of one full page, so that they do not depend on the page asked for."""
    keys = [each.ref.key for each in found.ranking.candidates[: max(depth, MAX_LIMIT)]]
    vector = found.ranking.vector
    return await calibrated(
        tenant,
        keys,
        () if found.query.mode is Mode.VECTOR else found.tokens,
        await vectors.cosines(tenant, vector, keys) if vector is not None and keys else {},
        vectors=vectors,
        curve=model.profile.calibration if model is not None else None,
        keyword_evidence=settings.keyword_evidence,
        window=MAX_LIMIT,
    )


async def _demoted(tenant: str, ranking: Ranking, *, catalogue: Catalogue, settings: SearchSettings) -> Ranking:
    ids = [each.ref.public_id for each in ranking.candidates if each.ref.kind in MEMORY_KINDS]
    memories = await memories_of(tenant, ids, catalogue=catalogue)
    for each in ranking.candidates:
        memory = memories.get(each.ref.public_id)
        if memory is not None and not memory.is_latest:
            each.factor = settings.superseded_factor
    return Ranking(in_order(list(ranking.candidates)), ranking.vector, ranking.failed, ranking.timings)


async def _related(
    tenant: str,
    page: Sequence[Readable],
    candidates: Sequence[Candidate],
    query: Query,
    *,
    graph: GraphStore,
    catalogue: Catalogue,
    settings: SearchSettings,
) -> tuple[Mapping[UUID, Sequence[types_pb2.Related]], tuple[str, ...]]:
    if not query.include_related or not page:
        return {}, ()
    keys = [candidates[row.place].ref.key for row in page]
    try:
        related = await read_related(
            tenant, keys, graph=graph, catalogue=catalogue, containers=query.where.containers, limit=settings.related_limit
        )
    except EunoeError:
        # Hits without their neighbours are still an answer; the graph is named in `degraded`.
        return {}, (GRAPH,)
    return related, ()

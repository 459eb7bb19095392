"""The use cases: request in, response out. No clock of its own, no environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from eunoe.v1 import search_pb2, types_pb2
from eunoe_contracts.content import MEMORY_KINDS
from eunoe_contracts.errors import EunoeError, MemoryNotFound, StoreUnavailable
from eunoe_stores.analyser import analyse_query

from eunoe_search.ablation import without
from eunoe_search.answer import hit_of
from eunoe_search.calibration import calibrated, number_shown
from eunoe_search.candidate import Candidate, in_order
from eunoe_search.config import SearchSettings
from eunoe_search.ports import SearchPorts
from eunoe_search.query import MAX_LIMIT, Mode, Query, read_query
from eunoe_search.ranking import GRAPH, Ranking, rank
from eunoe_search.readable import Readable, memories_of, read_ranked
from eunoe_search.related import read_related


@dataclass(frozen=True, slots=True)
class Found:
    """A validated query, its candidates best first with the scores to report, and what the ranking says of its arms."""

    query: Query
    candidates: Sequence[Candidate]
    scores: Sequence[float]
    failed: tuple[str, ...]
    timings: Mapping[str, float]


async def search(
    tenant: str, request: search_pb2.SearchRequest, *, ports: SearchPorts, settings: SearchSettings
) -> search_pb2.SearchResponse:
    """Ranked, cited hits. `total` counts the distinct candidates that score more than nothing. Raises `EmptyContent`,
    `UnknownFilter`, `InvalidField`, `CapabilityUnavailable` (mode vector without a model), `StoreUnavailable` (no arm answered, or
    one did not and the settings fail closed).
    """
    started = ports.clock.monotonic()
    found = await _find(tenant, request, ports=ports, settings=settings)
    _require(found.failed, settings)
    query, candidates = found.query, found.candidates[: number_shown(found.scores)]
    rows, dropped = await read_ranked(tenant, [each.ref for each in candidates], query.offset + query.limit, catalogue=ports.catalogue)
    page = rows[query.offset :]
    related, failed = await _related(tenant, page, candidates, query, ports=ports, settings=settings)
    _require(failed, settings)
    hits = [
        hit_of(row, candidates[row.place], found.scores[row.place], related.get(candidates[row.place].ref.key, ()), explain=query.explain)
        for row in page
    ]
    return search_pb2.SearchResponse(
        query=request.query,
        results=hits,
        total=len(candidates) - dropped,
        limit=query.limit,
        offset=query.offset,
        degraded=dict.fromkeys((*found.failed, *failed)),
        took_ms=(ports.clock.monotonic() - started) * 1000,
    )


def _require(failed: Sequence[str], settings: SearchSettings) -> None:
    if failed and settings.fail_closed:
        raise StoreUnavailable(
            f"search: no answer from {', '.join(failed)}, and answers without it are refused (EUNOE_SEARCH__FAIL_CLOSED)"
        )


async def explain(
    tenant: str, request: search_pb2.ExplainRequest, *, ports: SearchPorts, settings: SearchSettings
) -> search_pb2.ExplainResponse:
    """Per-arm ranks and scores of one candidate, shown or not, and the time of each step. Raises as `search`, and `MemoryNotFound`
    when the id is not among the candidates of this query.
    """
    found = await _find(tenant, request.search, ports=ports, settings=settings)
    for candidate, score in zip(found.candidates, found.scores, strict=True):
        if str(candidate.ref.public_id) == request.hit_id.lower():
            rows, _ = await read_ranked(tenant, [candidate.ref], 1, catalogue=ports.catalogue)
            if rows:
                return search_pb2.ExplainResponse(hit=hit_of(rows[0], candidate, score, (), explain=True), timings_ms=found.timings)
    raise MemoryNotFound("hit_id: not among the candidates of this query")


async def _find(tenant: str, request: search_pb2.SearchRequest, *, ports: SearchPorts, settings: SearchSettings) -> Found:
    query = read_query(request, default_fusion=settings.fusion, has_model=ports.model is not None)
    settings = without(settings, query.ablate)
    tokens = analyse_query(query.text)
    ranking = await rank(
        tenant,
        query,
        tokens,
        vectors=ports.vectors,
        graph=ports.graph,
        model=ports.model,
        turns=ports.turns,
        settings=settings,
        clock=ports.clock,
    )
    if not query.where.latest_only:
        ranking = await _demoted(tenant, ranking, ports=ports, settings=settings)
    started = ports.clock.monotonic()
    words = () if query.mode is Mode.VECTOR else tokens
    scores = await _scores(tenant, ranking, words, ports=ports, settings=settings)
    timings = {**ranking.timings, "calibration": (ports.clock.monotonic() - started) * 1000}
    return Found(query, ranking.candidates, scores, ranking.failed, timings)


async def _scores(tenant: str, ranking: Ranking, tokens: Sequence[str], *, ports: SearchPorts, settings: SearchSettings) -> Sequence[float]:
    """Reported scores of all candidates, so that they do not depend on the page asked for."""
    keys = [each.ref.key for each in ranking.candidates]
    return await calibrated(
        tenant,
        keys,
        tokens,
        await ports.vectors.cosines(tenant, ranking.vector, keys) if ranking.vector is not None and keys else {},
        {each.ref.key: each.hop_source for each in ranking.candidates if each.hop_source is not None},
        vectors=ports.vectors,
        curve=ports.model.profile.calibration if ports.model is not None else None,
        keyword_evidence=settings.keyword_evidence,
        window=MAX_LIMIT,
    )


async def _demoted(tenant: str, ranking: Ranking, *, ports: SearchPorts, settings: SearchSettings) -> Ranking:
    ids = [each.ref.public_id for each in ranking.candidates if each.ref.kind in MEMORY_KINDS]
    memories = await memories_of(tenant, ids, catalogue=ports.catalogue)
    for each in ranking.candidates:
        memory = memories.get(each.ref.public_id)
        if memory is not None and not memory.is_latest:
            each.factor = settings.superseded_factor
    return replace(ranking, candidates=in_order(list(ranking.candidates)))


async def _related(
    tenant: str, page: Sequence[Readable], candidates: Sequence[Candidate], query: Query, *, ports: SearchPorts, settings: SearchSettings
) -> tuple[Mapping[UUID, Sequence[types_pb2.Related]], tuple[str, ...]]:
    if not query.include_related or not page:
        return {}, ()
    keys = [candidates[row.place].ref.key for row in page]
    containers, limit = query.where.containers, settings.related_limit
    try:
        related = await read_related(tenant, keys, graph=ports.graph, catalogue=ports.catalogue, containers=containers, limit=limit)
    except EunoeError:
        # Hits without their neighbours are still an answer; the graph is named in `degraded`.
        return {}, (GRAPH,)
    return related, ()

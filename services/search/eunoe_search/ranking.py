"""Ranking: arms, fusion, priors, hops, signs. Everything but the texts of the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from eunoe_contracts.clock import Clock
from eunoe_contracts.errors import EunoeError
from eunoe_models.embedding.port import EmbeddingModel
from eunoe_stores.graph.port import GraphStore
from eunoe_stores.vectors.port import VectorIndex
from numpy.typing import NDArray

from eunoe_search.arms import BM25_BODY, BM25_CONTEXT, DENSE, Answers, ask_arms
from eunoe_search.candidate import Candidate, in_order
from eunoe_search.config import SearchSettings
from eunoe_search.fusion import fuse
from eunoe_search.hops import Probe, apply_hops, apply_named, best_rows, followed, named
from eunoe_search.priors import apply_priors, parent_dense
from eunoe_search.query import Mode, Query
from eunoe_search.turn_signs import TurnReader, apply_turn_signs

GRAPH = "graph"


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates best first, each public id once; which arms failed; milliseconds by step."""

    candidates: Sequence[Candidate]
    vector: NDArray[np.float32] | None
    failed: tuple[str, ...]
    timings: Mapping[str, float]


async def rank(
    tenant: str,
    query: Query,
    tokens: Sequence[str],
    *,
    vectors: VectorIndex,
    graph: GraphStore,
    model: EmbeddingModel | None,
    turns: TurnReader,
    settings: SearchSettings,
    clock: Clock,
) -> Ranking:
    """Rank the rows that the filter allows. Priors, hops and signs belong to mode hybrid; the two others are their arms alone.
    Raises `StoreUnavailable`.
    """
    answers = await ask_arms(tenant, query, tokens, vectors=vectors, model=model, settings=settings, clock=clock)
    started = clock.monotonic()
    candidates = await _fused(tenant, query, answers, vectors=vectors, settings=settings)
    timings = {**answers.timings, "fusion": (clock.monotonic() - started) * 1000}
    failed = answers.failed
    if query.mode is Mode.HYBRID and candidates and (settings.hop_sources > 0 or settings.title_named > 0):
        started = clock.monotonic()
        probe = Probe(query.where, tokens, answers.vector)
        if not await _hopped(tenant, query.text, candidates, probe, vectors=vectors, graph=graph, settings=settings):
            failed = (*failed, GRAPH)
        timings["hop"] = (clock.monotonic() - started) * 1000
    if query.mode is Mode.HYBRID and candidates and settings.turn_signs > 0:
        started = clock.monotonic()
        every, weight = list(candidates.values()), settings.turn_signs
        await apply_turn_signs(tenant, query.text, tokens, every, turns=turns, vectors=vectors, weight=weight)
        timings["turn_signs"] = (clock.monotonic() - started) * 1000
    return Ranking(in_order(list(candidates.values())), answers.vector, failed, timings)


async def _fused(tenant: str, query: Query, answers: Answers, *, vectors: VectorIndex, settings: SearchSettings) -> dict[UUID, Candidate]:
    # A BM25 arm that returned fewer rows than asked has scored all others zero; so zero, not its last row, is the lowest.
    floors = {name: 0.0 for name in (BM25_BODY, BM25_CONTEXT) if len(answers.ranked.get(name, ())) < settings.candidates}
    parts = fuse(answers.ranked, weights=_weights(settings), method=query.fusion, rrf_k=settings.rrf_k, floors=floors)
    refs = await vectors.refs(tenant, list(parts)) if parts else {}
    candidates = {key: Candidate(refs[key], arms=arms) for key, arms in parts.items() if key in refs}
    if query.mode is Mode.HYBRID:
        apply_priors(
            list(candidates.values()),
            parents_bm25=answers.parents,
            parents_dense=parent_dense(answers.ranked.get(DENSE, ()), refs),
            settings=settings,
        )
    return candidates


async def _hopped(
    tenant: str,
    question: str,
    candidates: dict[UUID, Candidate],
    probe: Probe,
    *,
    vectors: VectorIndex,
    graph: GraphStore,
    settings: SearchSettings,
) -> bool:
    containers = probe.where.containers
    try:
        async with asyncio.timeout(settings.arm_timeout_s):
            titled = await named(tenant, question, graph=graph, containers=containers) if settings.title_named > 0 else []
            if titled:
                apply_named(candidates, await best_rows(tenant, titled, probe, vectors=vectors), settings.title_named)
            if settings.hop_sources > 0:
                mentions = await followed(tenant, list(candidates.values()), graph=graph, settings=settings, containers=containers)
                documents = list({mention.document for mention in mentions})
                if documents:
                    apply_hops(candidates, mentions, await best_rows(tenant, documents, probe, vectors=vectors), settings)
    except (EunoeError, TimeoutError):
        # The list without the hop is still an answer; the caller names the graph in `degraded`.
        return False
    return True


def _weights(settings: SearchSettings) -> dict[str, float]:
    return {DENSE: settings.weight_dense, BM25_BODY: settings.weight_bm25_body, BM25_CONTEXT: settings.weight_bm25_context}

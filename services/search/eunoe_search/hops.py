"""The mention hop: what the best hits mention by title is likely part of the answer.

From the best hits follow MENTIONS_DOCUMENT edges, skip targets that many passages mention, and give the target's best passage a
share of the source's score, merged by the maximum. Measured on 2Wiki: recall at five from 66.6 to 97.3.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
from eunoe_contracts.content import STRUCTURE_KINDS
from eunoe_contracts.identity import passage_id
from eunoe_stores.graph.port import EdgeKind, GraphStore
from eunoe_stores.vectors.port import IndexFilter, RowRef, Scored, VectorIndex
from numpy.typing import NDArray

from eunoe_search.candidate import Candidate, in_order
from eunoe_search.config import SearchSettings
from eunoe_search.filters import allows

ROWS_PER_TARGET = 5


@dataclass(frozen=True, slots=True)
class Probe:
    """The query in the forms in which a target's best passage can be looked up."""

    where: IndexFilter
    tokens: Sequence[str]
    vector: NDArray[np.float32] | None


async def passed_on(
    tenant: str, candidates: Sequence[Candidate], *, graph: GraphStore, settings: SearchSettings, containers: tuple[str, ...]
) -> dict[UUID, float]:
    """Documents that the best candidates mention, and the score each gets: `hop_decay` times that of its best source.

    All sources are read before anything is changed, so the result does not depend on their order.
    """
    sources = in_order(list(candidates))[: settings.hop_sources]
    mentioned = await asyncio.gather(
        *(
            graph.neighbours(tenant, each.ref.key, kinds=frozenset({EdgeKind.MENTIONS_DOCUMENT}), outgoing=True, limit=settings.hop_fan_out)
            for each in sources
        )
    )
    targets: dict[UUID, tuple[UUID, float]] = {}
    for source, neighbours in zip(sources, mentioned, strict=True):
        for each in neighbours:
            document = each.node.document or each.node.public_id
            if document == source.ref.document or not allows(containers, each.node.container):
                continue
            share = settings.hop_decay * source.score
            if share > targets.get(each.node.key, (document, 0.0))[1]:
                targets[each.node.key] = (document, share)
    if not targets:
        return {}
    degrees = await graph.in_degree(tenant, list(targets), EdgeKind.MENTIONS_DOCUMENT)
    found: dict[UUID, float] = {}
    for key, (document, share) in targets.items():
        if degrees.get(key, 0) <= settings.hop_in_degree:
            found[document] = max(found.get(document, 0.0), share)
    return found


async def best_rows(tenant: str, documents: Sequence[UUID], probe: Probe, *, vectors: VectorIndex) -> dict[UUID, RowRef]:
    """The row of each document that fits the query best, among those that the query's filter allows: by cosine, else by BM25,
    else the document's first passage (only when no other filter than containers is set).
    """
    wanted = frozenset(documents) & probe.where.documents if probe.where.documents else frozenset(documents)
    if not wanted:
        return {}
    where = replace(probe.where, documents=wanted)
    limit = ROWS_PER_TARGET * len(wanted)
    hits: Sequence[Scored] = ()
    if probe.vector is not None:
        hits = await vectors.dense(tenant, probe.vector, where, limit)
    elif probe.tokens:
        hits = await vectors.bm25_context(tenant, probe.tokens, where, limit)
    refs = await vectors.refs(tenant, [hit.key for hit in hits])
    best: dict[UUID, RowRef] = {}
    for hit in hits:
        ref = refs.get(hit.key)
        if ref is not None and ref.kind in STRUCTURE_KINDS:
            best.setdefault(ref.document, ref)
    missing = [document for document in wanted if document not in best]
    return {**best, **await _first_passages(tenant, missing, probe.where, vectors=vectors)}


async def _first_passages(tenant: str, documents: Sequence[UUID], where: IndexFilter, *, vectors: VectorIndex) -> Mapping[UUID, RowRef]:
    if not documents or where != IndexFilter(containers=where.containers, documents=where.documents, latest_only=where.latest_only):
        return {}
    keys = await vectors.keys_of(tenant, [passage_id(document, 0) for document in documents])
    refs = await vectors.refs(tenant, [key for found in keys.values() for key in found])
    newest = sorted(refs.values(), key=lambda ref: ref.generation)
    return {ref.document: ref for ref in newest if allows(where.containers, ref.container)}


def apply_hops(candidates: dict[UUID, Candidate], shares: Mapping[UUID, float], rows: Mapping[UUID, RowRef]) -> None:
    """Raise each target's row to its share, adding it to the candidates when no arm had found it."""
    for document, ref in rows.items():
        candidate = candidates.setdefault(ref.key, Candidate(ref))
        candidate.hop = max(candidate.hop, shares[document])

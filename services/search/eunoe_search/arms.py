"""The arms: dense, BM25 on the body, BM25 on the contextual text, and BM25 over parents. All are asked at once where that is quicker.

An arm that fails or takes too long is left out and named; only when all of them fail there is no answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from eunoe_contracts.clock import Clock
from eunoe_contracts.errors import EunoeError, StoreUnavailable
from eunoe_models.embedding.port import EmbeddingModel, Lane, Role
from eunoe_stores.vectors.port import Scored, VectorIndex
from numpy.typing import NDArray

from eunoe_search.config import SearchSettings
from eunoe_search.query import Mode, Query

DENSE = "dense"
BM25_BODY = "bm25_body"
BM25_CONTEXT = "bm25_context"
BM25_PARENT = "bm25_parent"


@dataclass(frozen=True, slots=True)
class Answers:
    """What came back. `ranked` holds the candidates of each arm that answered, best first; `parents` BM25 scores of parents;
    `failed` the arms that did not answer; `timings` milliseconds by arm.
    """

    ranked: Mapping[str, Sequence[Scored]]
    parents: Mapping[UUID, float]
    vector: NDArray[np.float32] | None
    failed: tuple[str, ...]
    timings: Mapping[str, float]


async def ask_arms(
    tenant: str,
    query: Query,
    tokens: Sequence[str],
    *,
    vectors: VectorIndex,
    model: EmbeddingModel | None,
    settings: SearchSettings,
    clock: Clock,
) -> Answers:
    """Ask every arm that the mode wants. A query of stop words only has no tokens and is not sent to the BM25 arms.
    Raises `StoreUnavailable` when no arm answered.
    """
    asked: dict[str, Callable[[], Awaitable[object]]] = {}
    ranked: dict[str, Sequence[Scored]] = {}
    parents: dict[UUID, float] = {}
    embedded: list[NDArray[np.float32]] = []

    async def dense() -> None:
        if model is not None:
            vector = (await model.embed([query.text], lane=Lane.INTERACTIVE, role=Role.QUERY))[0]
            embedded.append(vector)
            ranked[DENSE] = await vectors.dense(tenant, vector, query.where, settings.candidates)

    async def body() -> None:
        ranked[BM25_BODY] = await vectors.bm25_body(tenant, tokens, query.where, settings.candidates)

    async def context() -> None:
        ranked[BM25_CONTEXT] = await vectors.bm25_context(tenant, tokens, query.where, settings.candidates)

    async def parent() -> None:
        parents.update(await vectors.bm25_parent(tenant, tokens, query.where, settings.candidates))

    if model is not None and query.mode is not Mode.KEYWORD:
        asked[DENSE] = dense
    if tokens and query.mode is not Mode.VECTOR:
        asked |= {BM25_BODY: body, BM25_CONTEXT: context}
        if settings.prior_parent_bm25 > 0:
            asked[BM25_PARENT] = parent
    timings: dict[str, float] = {}
    calls = [_timed(name, ask, settings.arm_timeout_s, clock, timings) for name, ask in asked.items()]
    outcomes = [await call for call in calls] if vectors.is_local else await asyncio.gather(*calls)
    failed = tuple(name for name, answered in zip(asked, outcomes, strict=True) if not answered)
    if failed and not ranked:
        raise StoreUnavailable(f"search: no arm answered ({', '.join(failed)}); try again")
    in_order = {name: ranked[name] for name in asked if name in ranked}
    return Answers(in_order, parents, embedded[0] if DENSE in ranked else None, failed, timings)


async def _timed(name: str, ask: Callable[[], Awaitable[object]], timeout_s: float, clock: Clock, timings: dict[str, float]) -> bool:
    started = clock.monotonic()
    try:
        async with asyncio.timeout(timeout_s):
            await ask()
    except (EunoeError, TimeoutError):
        # Named in the answer's `degraded` and counted by the caller.
        return False
    else:
        return True
    finally:
        timings[name] = (clock.monotonic() - started) * 1000

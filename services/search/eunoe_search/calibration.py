"""The reported score: 0 to 1, falling along the list, and meaning the same for every query.

The order comes from the fused score, which only compares rows of one answer. What is reported instead is evidence that does not
depend on the other rows of the index: the cosine through the model's fitted curve, and the share of the query's terms that the
row contains, terms weighted by their length. Both stay as they are when unrelated documents are added; weights by document
frequency would not.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from operator import neg
from uuid import UUID

import numpy as np
from eunoe_models.embedding.port import Calibration
from eunoe_stores.vectors.port import VectorIndex

MENTIONED = 0.3
"""Share of a row's evidence that counts for what it mentions by title: such a row may share no word with the query."""
NOTHING = 0.005
"""Scores below are shown as 0.00: neither words nor meaning speak for the row, which was merely the nearest there was."""
MAX_TERMS = 24
LONGEST = 8


async def term_coverage(tenant: str, tokens: Sequence[str], keys: Sequence[UUID], *, vectors: VectorIndex) -> dict[UUID, float]:
    """Share of the query's terms in each row's contextual text, a term counting by its length (at most eight letters)."""
    terms = sorted(dict.fromkeys(tokens), key=len, reverse=True)[:MAX_TERMS]
    if not terms or not keys:
        return {}
    weights = np.array([min(len(term), LONGEST) for term in terms], dtype=np.float64)
    shares = await vectors.holding(tenant, terms, keys) @ weights / weights.sum()
    return dict(zip(keys, shares.tolist(), strict=True))


def from_cosine(cosine: float, curve: Calibration) -> float:
    """The fitted logistic."""
    return 1 / (1 + math.exp(-curve.slope * (cosine - curve.midpoint)))


def from_coverage(coverage: float) -> float:
    """Half the terms are weak evidence (one shared word of two), three quarters are good, all of them are certain."""
    return min(1.0, max(0.0, coverage)) ** 2


def combined(cosine: float | None, coverage: float | None, *, curve: Calibration | None, keyword_evidence: float) -> float:
    """Either kind of evidence is enough: 1 - (1 - a)(1 - b), terms counting less beside a cosine. So an exact match of a rare
    name is not punished for a low cosine, and a few shared words do not make an unrelated text relevant.
    """
    by_terms = from_coverage(coverage or 0.0)
    if cosine is None or curve is None:
        return by_terms
    return 1 - (1 - from_cosine(cosine, curve)) * (1 - keyword_evidence * by_terms)


def falling(scores: Sequence[float], window: int) -> list[float]:
    """The scores made to fall along the list. Within the window a row is worth at least what is ranked behind it: a passage
    that came up through its session or through a mention must not drag down those after it. Beyond, no more than before.
    """
    lifted = list(scores)
    for place in range(min(window, len(lifted)) - 2, -1, -1):
        lifted[place] = max(lifted[place], lifted[place + 1])
    for place in range(1, len(lifted)):
        lifted[place] = min(lifted[place], lifted[place - 1])
    return lifted


def number_shown(scores: Sequence[float]) -> int:
    """How many of the falling scores are more than nothing: the rest would be shown as 0.00."""
    return bisect_left(scores, -NOTHING, key=neg) if scores else 0


async def calibrated(
    tenant: str,
    keys: Sequence[UUID],
    tokens: Sequence[str],
    cosines: Mapping[UUID, float],
    sources: Mapping[UUID, UUID],
    *,
    vectors: VectorIndex,
    curve: Calibration | None,
    keyword_evidence: float,
    window: int,
) -> list[float]:
    """Reported scores of rows in their order. `sources` names the row whose mention led to a row: a share of its evidence counts."""
    coverage = await term_coverage(tenant, tokens, keys, vectors=vectors)
    raw = {key: combined(cosines.get(key), coverage.get(key), curve=curve, keyword_evidence=keyword_evidence) for key in keys}
    led = {key: MENTIONED * raw.get(source, 0.0) for key, source in sources.items()}
    return falling([max(raw[key], led.get(key, 0.0)) for key in keys], window)

"""Scores over a view. BM25 as in Lucene 8 and Weaviate: idf x tf / (tf + k1 (1 - b + b length / average)), without the constant
factor k1 + 1 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009). A term that a query
repeats counts as often.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from eunoe_stores.vectors.port import IndexFilter, Scored
from eunoe_stores.vectors.sqlite import compact_vectors
from eunoe_stores.vectors.sqlite.columns import View
from eunoe_stores.vectors.sqlite.filters import mask
from eunoe_stores.vectors.sqlite.id_columns import ABSENT
from eunoe_stores.vectors.sqlite.ids import uuid_of
from eunoe_stores.vectors.sqlite.references import reference

K1 = 1.2
B = 0.75


def idf(total: int, holding: int) -> float:
    """Weight of a term that `holding` of `total` texts contain."""
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))


def rows_by_bm25(view: View, column: str, tokens: Sequence[str], where: IndexFilter, limit: int) -> list[Scored]:
    """The best rows; `column` holds the lengths of the field whose postings the view has. Statistics are of all live rows."""
    if not view.live or limit <= 0:
        return []
    lengths = view.columns[column]
    average = view.lengths[column] / view.live or 1.0
    scores = np.zeros(view.size, dtype=np.float64)
    for term, repeats in Counter(tokens).items():
        posted, frequencies = view.postings[term]
        holding = _holding(view, posted)
        if holding:
            norms = K1 * (1 - B) + lengths[posted] * (K1 * B / average)
            scores[posted] += repeats * idf(view.live, holding) * frequencies / (frequencies + norms)
    slots = np.flatnonzero((scores > 0) & mask(view, where))
    return _scored(view, slots, scores[slots], limit)


def parents_by_bm25(view: View, tokens: Sequence[str], where: IndexFilter, limit: int) -> dict[UUID, float]:
    """The best parents. A parent's text is the bodies of its rows that pass the filter; statistics are of all live rows."""
    if not view.live or limit <= 0:
        return {}
    columns, count = view.columns, len(view.parents)
    parents, alive, chosen = columns["parent"], columns["alive"], mask(view, where)
    total = int(np.count_nonzero(np.bincount(parents[alive], minlength=count)))
    if not total:
        return {}  # a row is being replaced just now, and it was the only one
    average = view.lengths["body"] / total or 1.0
    norms = K1 * (1 - B + B * np.bincount(parents[chosen], weights=columns["body"][chosen], minlength=count) / average)
    scores = np.zeros(count, dtype=np.float64)
    for term, repeats in Counter(tokens).items():
        slots, frequencies = view.postings[term]
        holding = int(np.count_nonzero(np.bincount(parents[slots[alive[slots]]], minlength=count)))
        if holding:
            inside = chosen[slots]
            summed = np.bincount(parents[slots[inside]], weights=frequencies[inside], minlength=count)
            scores += repeats * idf(total, holding) * summed / (summed + norms)
    found = np.flatnonzero(scores > 0)
    order = best(scores[found], view.parents.first_halves[found], limit)
    return {uuid_of(view.parents[code]): float(scores[code]) for code in found[order].tolist()}


def rows_by_cosine(view: View, vector: NDArray[np.float32], where: IndexFilter, limit: int) -> list[Scored]:
    """The nearest rows, every row looked at. `vector` has length one."""
    if view.vectors is None or limit <= 0:
        return []
    slots = np.flatnonzero(mask(view, where) & view.columns["has_vector"])
    return _scored(view, slots, cosines(view, vector, slots), limit)


def cosines(view: View, vector: NDArray[np.float32], slots: NDArray[np.intp]) -> NDArray[np.float32]:
    """Cosines of given rows, which have vectors."""
    if view.vectors is None or not len(slots):
        return np.zeros(0, dtype=np.float32)
    return compact_vectors.cosines(view.vectors, vector, slots)


def covered(view: View, tokens: Sequence[str]) -> NDArray[np.float64]:
    """Share of the query's idf weight that each row of the view's `slots` holds; a term that no row has counts fully."""
    terms = list(dict.fromkeys(tokens))
    weights = np.array([idf(view.live, _holding(view, view.postings[term][0])) for term in terms])
    shares: NDArray[np.float64] = np.minimum(1.0, held(view, terms) @ weights / (weights.sum() or 1.0))
    return shares


def held(view: View, tokens: Sequence[str]) -> NDArray[np.bool_]:
    """Which row of the view's `slots` holds which token; rows that are not there hold none."""
    found = np.zeros((len(view.slots), len(tokens)), dtype=np.bool_)
    for column, term in enumerate(tokens):
        found[:, column] = _among(view.slots, view.postings[term][0])
    return found


def _holding(view: View, posted: NDArray[np.int32]) -> int:
    """Live rows that are posted."""
    return len(posted) if view.live == view.size else int(np.count_nonzero(view.columns["alive"][posted]))


def _among(slots: NDArray[np.int64], posted: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which slots are posted. Postings ascend, and there are many more of them than slots."""
    if not len(posted):
        return np.zeros(len(slots), dtype=np.bool_)
    at = np.minimum(np.searchsorted(posted, slots.astype(posted.dtype)), len(posted) - 1)
    found: NDArray[np.bool_] = (posted[at] == slots) & (slots != ABSENT)
    return found


def best(scores: NDArray[Any], ties: NDArray[np.uint64], limit: int) -> NDArray[np.intp]:
    """Positions of the highest scores, best first; equal scores in the order of `ties`, so that answers repeat."""
    chosen = np.arange(len(scores))
    if len(scores) > limit:
        threshold = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        chosen = np.flatnonzero(scores >= threshold)
    return chosen[np.lexsort((ties[chosen], -scores[chosen]))[:limit]]


def _scored(view: View, slots: NDArray[np.intp], scores: NDArray[Any], limit: int) -> list[Scored]:
    order = best(scores, view.keys.first_halves[slots], limit)
    pairs = zip(slots[order].tolist(), scores[order].tolist(), strict=True)
    return [Scored(reference(view, slot).key, score) for slot, score in pairs]

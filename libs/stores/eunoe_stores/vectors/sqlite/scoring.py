"""Scores over a view. BM25 is idf x tf / (tf + k1 (1 - b + b length / average)). A term that a query repeats counts as often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from eunoe_stores.vectors.bm25 import K1, B, idf
from eunoe_stores.vectors.port import IndexFilter, Scored
from eunoe_stores.vectors.sqlite import compact_vectors
from eunoe_stores.vectors.sqlite.columns import View
from eunoe_stores.vectors.sqlite.compact_vectors import decoded
from eunoe_stores.vectors.sqlite.filters import mask
from eunoe_stores.vectors.sqlite.id_columns import ABSENT
from eunoe_stores.vectors.sqlite.ids import uuid_of
from eunoe_stores.vectors.sqlite.references import references

_INEXACT = 0.005
"""How far a cosine in memory may be off."""


def rows_by_bm25(view: View, column: str, tokens: Sequence[str], where: IndexFilter, limit: int) -> list[Scored]:
    """The best rows; `column` holds the lengths of the field whose postings the view has. Statistics are of all live rows."""
    terms = [(view.postings[term], repeats) for term, repeats in Counter(tokens).items() if len(view.postings[term][0])]
    if not view.live or limit <= 0 or not terms:
        return []
    average = view.lengths[column] / view.live or 1.0
    weights = [repeats * idf(view.live, _holding(view, posted)) for (posted, _), repeats in terms]
    # All terms in one go: the number of numpy's calls counts, because each of them lets the interpreter's lock go.
    slots = np.concatenate([posted for (posted, _), _ in terms])
    frequencies = np.concatenate([found for (_, found), _ in terms])
    norms = K1 * (1 - B) + view.columns[column][slots] * (K1 * B / average)
    parts = np.repeat(weights, [len(posted) for (posted, _), _ in terms]) * frequencies / (frequencies + norms)
    scores = np.bincount(slots, weights=parts, minlength=view.size) * mask(view, where)
    return _scored(view, np.flatnonzero(scores), scores, limit)


def parents_by_bm25(view: View, tokens: Sequence[str], where: IndexFilter, limit: int) -> dict[UUID, float]:
    """The best parents. A parent's text is the bodies of its rows that pass the filter; statistics are of all live rows."""
    if not view.live or limit <= 0:
        return {}
    columns, count = view.columns, len(view.parents)
    parents, alive, chosen = columns["parent"], columns["alive"], mask(view, where)
    every = bool(chosen.all())
    total = int(np.count_nonzero(np.bincount(parents[alive], minlength=count)))
    if not total:
        return {}  # a row is being replaced just now, and it was the only one
    average = view.lengths["body"] / total or 1.0
    norms = K1 * (1 - B + B * np.bincount(parents[chosen], weights=columns["body"][chosen], minlength=count) / average)
    scores = np.zeros(count, dtype=np.float64)
    for term, repeats in Counter(tokens).items():
        slots, frequencies = view.postings[term]
        if every:
            summed = np.bincount(parents[slots], weights=frequencies, minlength=count)
            holding = int(np.count_nonzero(summed))
        else:
            inside = chosen[slots]
            summed = np.bincount(parents[slots[inside]], weights=frequencies[inside], minlength=count)
            holding = int(np.count_nonzero(np.bincount(parents[slots[alive[slots]]], minlength=count)))
        if holding:
            scores += repeats * idf(total, holding) * summed / (summed + norms)
    found = np.flatnonzero(scores)
    order = best(scores[found], view.parents.first_halves[found], limit)
    parents_found = map(uuid_of, view.parents.ids(found[order]))
    return dict(zip(parents_found, scores[found[order]].tolist(), strict=True))


def rows_by_cosine(view: View, vector: NDArray[np.float32], where: IndexFilter, limit: int) -> list[Scored]:
    """The nearest rows, every row looked at. `vector` has length one."""
    if view.vectors is None or limit <= 0:
        return []
    slots = np.flatnonzero(mask(view, where) & view.columns["has_vector"])
    scores = np.zeros(view.size, dtype=np.float32)
    scores[slots] = cosines(view, vector, slots)
    return _scored(view, slots, scores, limit)


def cosines(view: View, vector: NDArray[np.float32], slots: NDArray[np.intp]) -> NDArray[np.float32]:
    """Cosines of given rows, which have vectors."""
    if view.vectors is None or not len(slots):
        return np.zeros(0, dtype=np.float32)
    return compact_vectors.cosines(view.vectors, vector, slots)


def finds_itself(view: View, slot: int, stored: bytes) -> bool:
    """Whether a search for the row's vector in the file meets the row in memory: a search looks at every row that is there."""
    own = decoded([stored])[0]
    norm = float(np.linalg.norm(own))
    return norm == 0 or float(cosines(view, own / np.float32(norm), np.array([slot]))[0]) > 1 - _INEXACT


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
    chosen = _highest(scores, limit)
    return chosen[np.lexsort((ties[chosen], -scores[chosen]))[:limit]]


def _highest(scores: NDArray[Any], limit: int) -> NDArray[np.intp]:
    """Positions of the `limit` highest scores and of their equals."""
    if len(scores) <= limit:
        return np.arange(len(scores))
    return np.flatnonzero(scores >= np.partition(scores, len(scores) - limit)[len(scores) - limit])


def _scored(view: View, slots: NDArray[np.intp], scores: NDArray[Any], limit: int) -> list[Scored]:
    """The best of these slots; `scores` holds one for every row."""
    slots = slots[_highest(scores[slots], limit)]
    slots = slots[best(scores[slots], view.keys.first_halves[slots], limit)]
    rows = zip(references(view, slots), scores[slots].tolist(), strict=True)
    return [Scored(row.key, score) for row, score in rows]

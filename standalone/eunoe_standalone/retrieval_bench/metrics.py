"""Measures of one ranked list, and means of many. Names are documents; a name counts once, at its first place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

DEPTHS = (5, 10, 50)
NDCG_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one question: names best first, and milliseconds as the caller saw them."""

    ranked: Sequence[str]
    relevant: Mapping[str, int]
    category: str
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Quality:
    """Means over questions, from 0 to 1."""

    questions: int
    ndcg: float
    recall: Mapping[int, float]


def recall(ranked: Sequence[str], relevant: Mapping[str, int], depth: int) -> float:
    """Share of the relevant names among the first `depth`."""
    return len(set(ranked[:depth]) & set(relevant)) / len(relevant)


def ndcg(ranked: Sequence[str], relevant: Mapping[str, int], depth: int) -> float:
    """Discounted cumulative gain over that of the best order: gain is the grade, discount log2(rank + 1), as trec_eval does
    (Jarvelin and Kekalainen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 2002).
    """
    ideal = sorted(relevant.values(), reverse=True)
    return _gain([relevant.get(name, 0) for name in ranked[:depth]]) / _gain(ideal[:depth])


def quality(answers: Sequence[Answer]) -> Quality:
    """Means; at least one answer is expected."""
    count = len(answers)
    return Quality(
        count,
        sum(ndcg(each.ranked, each.relevant, NDCG_DEPTH) for each in answers) / count,
        {depth: sum(recall(each.ranked, each.relevant, depth) for each in answers) / count for depth in DEPTHS},
    )


def by_category(answers: Sequence[Answer]) -> Mapping[str, Quality]:
    """The same for each category; empty when the questions have none."""
    grouped: dict[str, list[Answer]] = {}
    for each in answers:
        if each.category:
            grouped.setdefault(each.category, []).append(each)
    return {category: quality(grouped[category]) for category in sorted(grouped)}


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile: the smallest value that at least `share` of all do not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _gain(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))

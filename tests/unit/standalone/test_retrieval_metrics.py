"""Measures computed by hand."""

from __future__ import annotations

import math

import pytest
from eunoe_standalone.retrieval_bench.metrics import Answer, by_category, ndcg, percentile, quality, recall


def test_recall_is_the_share_of_what_is_relevant() -> None:
    ranked = ["a", "x", "b", "y"]
    assert recall(ranked, {"a": 1, "b": 1}, 1) == 0.5
    assert recall(ranked, {"a": 1, "b": 1}, 3) == 1.0
    assert recall(ranked, {"a": 1, "b": 1, "c": 1, "d": 1}, 50) == 0.5
    assert recall([], {"a": 1}, 5) == 0.0


def test_ndcg_by_hand() -> None:
    # Places 1 and 3: 1/log2(2) + 1/log2(4) = 1.5; the best order would give 1 + 1/log2(3).
    assert ndcg(["a", "x", "b"], {"a": 1, "b": 1}, 10) == pytest.approx(1.5 / (1 + 1 / math.log2(3)))
    assert ndcg(["a", "b"], {"a": 1, "b": 1}, 10) == pytest.approx(1.0)
    assert ndcg(["x"], {"a": 1}, 10) == 0.0


def test_ndcg_counts_grades_and_stops_at_its_depth() -> None:
    # Grades 1, 3 where 3, 1 were best: (1 + 3/log2(3)) / (3 + 1/log2(3)).
    expected = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert ndcg(["low", "high"], {"high": 3, "low": 1}, 10) == pytest.approx(expected)
    assert ndcg(["x", "a"], {"a": 1}, 1) == 0.0
    # More is relevant than the depth can show: the best possible list still counts as one.
    assert ndcg(["a", "b"], {"a": 1, "b": 1, "c": 1}, 2) == pytest.approx(1.0)


def test_means_and_categories() -> None:
    answers = [Answer(["a"], {"a": 1}, "1", 3.0), Answer(["x"], {"a": 1}, "2", 1.0), Answer(["x"] * 4 + ["a"], {"a": 1}, "2", 2.0)]
    assert quality(answers).recall[5] == pytest.approx(2 / 3)
    assert {name: (each.questions, each.recall[5]) for name, each in by_category(answers).items()} == {"1": (1, 1.0), "2": (2, 0.5)}
    assert by_category([Answer(["a"], {"a": 1}, "", 1.0)]) == {}


def test_percentiles_are_values_that_were_seen() -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.0
    assert percentile([float(each) for each in range(1, 101)], 0.95) == 95.0
    assert percentile([7.0], 0.95) == 7.0

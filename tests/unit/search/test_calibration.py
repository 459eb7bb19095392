from __future__ import annotations

import pytest
from eunoe_models.embedding.port import Calibration
from eunoe_search.calibration import combined, falling, from_cosine, from_coverage
from hypothesis import given
from hypothesis import strategies as st

CURVE = Calibration(midpoint=0.4, slope=12.0)
UNIT = st.floats(0, 1)


def test_the_curve_is_half_at_its_midpoint() -> None:
    assert from_cosine(0.4, CURVE) == pytest.approx(0.5)
    assert from_cosine(0.2, CURVE) < 0.1
    assert from_cosine(0.7, CURVE) > 0.95


def test_one_shared_word_of_two_is_weak_and_all_are_certain() -> None:
    assert from_coverage(0.5) < 0.3
    assert from_coverage(0.75) > 0.5
    assert from_coverage(1.0) == 1.0


def test_an_exact_keyword_hit_is_not_punished_for_a_low_cosine() -> None:
    assert combined(0.1, 1.0, curve=CURVE, keyword_evidence=0.5) > 0.5
    assert combined(0.1, 0.4, curve=CURVE, keyword_evidence=0.5) < 0.15


def test_without_vectors_the_terms_decide() -> None:
    assert combined(None, 0.8, curve=CURVE, keyword_evidence=0.5) == pytest.approx(0.64)
    assert combined(0.9, 0.8, curve=None, keyword_evidence=0.5) == pytest.approx(0.64)
    assert combined(None, None, curve=None, keyword_evidence=0.5) == 0.0


def test_a_hit_is_worth_at_least_what_is_ranked_behind_it() -> None:
    assert falling([0.3, 0.8, 0.7, 0.1], window=100) == [0.8, 0.8, 0.7, 0.1]
    assert falling([0.3, 0.2, 0.9], window=2) == [0.3, 0.2, 0.2]
    assert falling([], window=100) == []


@given(st.lists(UNIT, max_size=40), st.integers(1, 50))
def test_scores_fall_and_stay_between_zero_and_one(scores: list[float], window: int) -> None:
    reported = falling(scores, window)
    assert len(reported) == len(scores)
    assert reported == sorted(reported, reverse=True)
    assert all(0 <= score <= 1 for score in reported)


@given(st.floats(-1, 1), UNIT, UNIT)
def test_more_evidence_never_lowers_a_score(cosine: float, coverage: float, weight: float) -> None:
    base = combined(cosine, coverage, curve=CURVE, keyword_evidence=weight)
    assert 0 <= base <= 1
    assert combined(min(1.0, cosine + 0.1), coverage, curve=CURVE, keyword_evidence=weight) >= base - 1e-12
    assert combined(cosine, min(1.0, coverage + 0.1), curve=CURVE, keyword_evidence=weight) >= base - 1e-12

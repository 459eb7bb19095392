from __future__ import annotations

from uuid import UUID

import pytest
from eunoe_search.fusion import fuse, minmax, reciprocal, total_of
from eunoe_search.query import Fusion
from eunoe_stores.vectors.port import Scored
from hypothesis import given
from hypothesis import strategies as st

A, B, C = (UUID(int=number) for number in (1, 2, 3))
WEIGHTS = {"dense": 0.45, "body": 0.275, "context": 0.275}


def hits(*pairs: tuple[UUID, float]) -> list[Scored]:
    return [Scored(key, score) for key, score in pairs]


def test_minmax_by_hand() -> None:
    assert minmax([9.0, 6.0, 3.0]) == [1.0, 0.5, 0.0]
    assert minmax([9.0, 6.0, 3.0], floor=0.0) == pytest.approx([1.0, 2 / 3, 1 / 3])
    assert minmax([4.0, 4.0]) == [1.0, 1.0]
    assert minmax([]) == []


def test_reciprocal_by_hand() -> None:
    assert reciprocal(3, 10) == pytest.approx([1.0, 11 / 12, 11 / 13])


def test_fusion_by_hand() -> None:
    arms = {"dense": hits((A, 0.9), (B, 0.5)), "body": hits((B, 8.0), (C, 4.0)), "context": hits((B, 6.0))}
    fused = fuse(arms, weights=WEIGHTS, method=Fusion.MINMAX, rrf_k=10, floors={"body": 0.0})
    assert total_of(fused[A]) == pytest.approx(0.45)
    assert total_of(fused[B]) == pytest.approx(0.0 + 0.275 + 0.275)
    assert total_of(fused[C]) == pytest.approx(0.275 / 2)
    assert (fused[B]["body"].rank, fused[C]["body"].rank, fused[B]["body"].score) == (1, 2, 8.0)
    assert "dense" not in fused[C]


def test_a_missing_arm_leaves_its_weight_to_the_others() -> None:
    fused = fuse({"body": hits((A, 3.0)), "context": hits((A, 2.0))}, weights=WEIGHTS, method=Fusion.MINMAX, rrf_k=10, floors={})
    assert total_of(fused[A]) == pytest.approx(1.0)


def test_reciprocal_rank_fusion_looks_at_ranks_only() -> None:
    one = fuse({"dense": hits((A, 0.9), (B, 0.1))}, weights=WEIGHTS, method=Fusion.RRF, rrf_k=60, floors={})
    other = fuse({"dense": hits((A, 0.9), (B, 0.89))}, weights=WEIGHTS, method=Fusion.RRF, rrf_k=60, floors={})
    assert total_of(one[B]) == total_of(other[B]) == pytest.approx(61 / 62)


ARM = st.lists(st.tuples(st.integers(0, 20), st.floats(-1, 50, allow_nan=False)), max_size=12, unique_by=lambda pair: pair[0])


@given(st.dictionaries(st.sampled_from(sorted(WEIGHTS)), ARM, min_size=1), st.sampled_from(list(Fusion)))
def test_a_fused_score_lies_between_zero_and_one(raw: dict[str, list[tuple[int, float]]], method: Fusion) -> None:
    arms = {
        name: sorted((Scored(UUID(int=number), score) for number, score in pairs), key=lambda hit: -hit.score)
        for name, pairs in raw.items()
    }
    fused = fuse(arms, weights=WEIGHTS, method=method, rrf_k=10, floors={})
    assert set(fused) == {hit.key for arm in arms.values() for hit in arm}
    for parts in fused.values():
        assert -1e-9 <= total_of(parts) <= 1 + 1e-9


@given(st.lists(st.floats(-100, 100, allow_nan=False, width=32), min_size=1, max_size=30))
def test_minmax_keeps_the_order(scores: list[float]) -> None:
    scaled = minmax(scores)
    assert all(0 <= value <= 1 for value in scaled)
    for first, second in zip(sorted(scores), [scaled[scores.index(score)] for score in sorted(scores)], strict=True):
        assert second == pytest.approx(scaled[scores.index(first)])
    assert sorted(scaled) == [scaled[scores.index(score)] for score in sorted(scores)]

from __future__ import annotations

from uuid import UUID

import pytest
from eunoe_contracts.content import Kind
from eunoe_search.candidate import Candidate
from eunoe_search.config import SearchSettings
from eunoe_search.fusion import ArmPart
from eunoe_search.priors import apply_priors, parent_dense
from eunoe_stores.vectors.port import RowRef, Scored

MORNING, EVENING = UUID(int=101), UUID(int=102)


def ref(number: int, parent: UUID, position: int, kind: Kind = Kind.PASSAGE) -> RowRef:
    return RowRef(UUID(int=number), UUID(int=number + 1000), UUID(int=number + 2000), 1, "c", kind, parent, position)


def candidate(row: RowRef, fused: float) -> Candidate:
    return Candidate(row, arms={"dense": ArmPart(fused, 1, fused)})


def test_the_dense_score_of_a_parent_is_the_mean_of_its_three_best() -> None:
    rows = [ref(number, MORNING, number) for number in range(5)] + [ref(9, EVENING, 0)]
    pool = [Scored(row.key, score) for row, score in zip(rows, (0.9, 0.6, 0.3, 0.1, 0.0, 0.5), strict=True)]
    assert parent_dense(pool, {row.key: row for row in rows}) == pytest.approx({MORNING: 0.6, EVENING: 0.5})


def test_priors_by_hand() -> None:
    first, second, other = candidate(ref(1, MORNING, 0), 0.4), candidate(ref(2, MORNING, 1), 0.8), candidate(ref(3, EVENING, 0), 0.5)
    apply_priors(
        [first, second, other],
        parents_bm25={MORNING: 6.0, EVENING: 3.0},
        parents_dense={MORNING: 0.3, EVENING: 0.6},
        settings=SearchSettings(),
    )
    assert first.score == pytest.approx(0.4 + 0.35 + 0.2 * 0.5 + 0.2 * 0.8)
    assert second.score == pytest.approx(0.8 + 0.35 + 0.2 * 0.5)
    assert other.score == pytest.approx(0.5 + 0.35 * 0.5 + 0.2)
    assert first.priors["following"].score == pytest.approx(0.8)


def test_parents_of_about_the_same_score_are_treated_alike() -> None:
    first, other = candidate(ref(1, MORNING, 0), 0.5), candidate(ref(3, EVENING, 0), 0.5)
    apply_priors([first, other], parents_bm25={MORNING: 3.0, EVENING: 2.9}, parents_dense={}, settings=SearchSettings())
    assert first.score - other.score < 0.02


def test_a_memory_neither_follows_nor_is_followed() -> None:
    passage, fact = candidate(ref(1, MORNING, 0), 0.4), candidate(ref(2, MORNING, 1, Kind.FACT), 0.9)
    later = candidate(ref(3, MORNING, 2), 0.6)
    apply_priors([passage, fact, later], parents_bm25={}, parents_dense={}, settings=SearchSettings())
    assert (passage.score, fact.score) == pytest.approx((0.4, 0.9))


@pytest.mark.parametrize("backwards", [False, True])
def test_priors_do_not_feed_each_other(backwards: bool) -> None:
    rows = [candidate(ref(number, MORNING, number), 0.5) for number in range(3)]
    apply_priors(rows[::-1] if backwards else rows, parents_bm25={}, parents_dense={}, settings=SearchSettings())
    assert [each.score for each in rows] == pytest.approx([0.6, 0.6, 0.5])

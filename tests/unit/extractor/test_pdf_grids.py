"""The grid finder against pdfplumber's on the same rules, and its bounds."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from eunoe_extractor.backends.pdf_grids import Box, tables
from eunoe_extractor.backends.pdf_rules import Rule, Rules, TooMuchDrawn
from hypothesis import given, settings
from hypothesis import strategies as st
from pdfplumber.table import cells_to_tables, edges_to_intersections, intersections_to_cells, merge_edges
from pdfplumber.utils import filter_edges

STEP = 20.0


def edge(rule: Rule, orientation: str) -> dict[str, object]:
    place, start, end = rule
    x0, x1, top, bottom = (start, end, place, place) if orientation == "h" else (place, place, start, end)
    return {
        "object_type": "line",
        "orientation": orientation,
        "x0": x0,
        "x1": x1,
        "top": top,
        "bottom": bottom,
        "doctop": top,
        "width": x1 - x0,
        "height": bottom - top,
    }


def by_pdfplumber(rules: Rules) -> list[list[Box]]:
    edges = [edge(each, "v") for each in rules.down] + [edge(each, "h") for each in rules.across]
    merged = filter_edges(merge_edges(edges, 3, 3, 3, 3), min_length=3)
    return cells_to_tables(intersections_to_cells(edges_to_intersections(merged, 3, 3)))


def as_sets(found: Sequence[Sequence[Box]]) -> set[frozenset[Box]]:
    return {frozenset(tuple(round(side, 3) for side in cell) for cell in cells) for cells in found}


def grid(columns: int, rows: int) -> Rules:
    return Rules(
        across=[(STEP * row, 0, STEP * columns) for row in range(rows + 1)],
        down=[(STEP * column, 0, STEP * rows) for column in range(columns + 1)],
    )


ends = st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from([-4.0, -2.5, 0.0, 2.5, 4.0])).map(
    lambda each: (min(each[:2]) * STEP - each[2], max(each[:2]) * STEP + each[2])
)
rule = st.tuples(st.integers(0, 6), ends).map(lambda each: (each[0] * STEP, *each[1])).filter(lambda each: each[2] - each[1] >= 1)


@settings(max_examples=300, deadline=None)
@given(st.lists(rule, min_size=2, max_size=24), st.lists(rule, min_size=2, max_size=24))
def test_finds_the_cells_that_pdfplumber_finds(across: list[Rule], down: list[Rule]):
    rules = Rules(across, down)
    assert as_sets(tables(rules)) == as_sets(by_pdfplumber(rules))


def test_close_rules_are_one_and_pieces_are_joined():
    rules = Rules(
        across=[(0.0, 0, 50), (0.5, 52, 100), (40.0, 0, 100), (80.0, 0, 100), (81.0, 0, 100)],
        down=[(0.0, 0, 38), (0.0, 40, 80), (100.0, 2, 79), (50.0, 0, 40)],
    )
    assert tables(rules) == [[(0.0, 0.25, 50.0, 40.0), (50.0, 0.25, 100.0, 40.0), (0.0, 40.0, 100.0, 80.5)]]


def test_tables_apart_are_told_apart_and_come_from_the_top():
    one, other = grid(2, 2), grid(3, 2)
    both = Rules(
        [*((y + 500, left, right) for y, left, right in one.across), *other.across],
        [*((x, top + 500, bottom + 500) for x, top, bottom in one.down), *other.down],
    )
    assert [len(cells) for cells in tables(both)] == [6, 4]


@pytest.mark.parametrize("rules", [Rules(), Rules(across=[(0.0, 0, 9)] * 5), grid(1, 1), Rules([(0.0, 0, 9), (9.0, 0, 9)], [(0.0, 0, 9)])])
def test_no_table(rules: Rules):
    assert tables(rules) == []


@pytest.mark.parametrize(
    "rules",
    [
        grid(139, 139),
        Rules(
            grid(139, 139).across, [(STEP * x, STEP * y - 4, STEP * y + 4) for x in range(1, 140) for y in range(140)] + [(0.0, 0, 2_780)]
        ),
    ],
    ids=["whole", "ticks"],
)
def test_large_grids_take_little_time(rules: Rules):
    started = time.process_time()
    tables(rules)
    assert time.process_time() - started < 3


def test_more_crossings_than_are_looked_at():
    with pytest.raises(TooMuchDrawn):
        tables(grid(200, 200))

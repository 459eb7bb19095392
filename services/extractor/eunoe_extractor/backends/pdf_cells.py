"""The cells of one table of a PDF page, what stands in them, and how they read."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from eunoe_extractor.backends.pdf_grids import Box

QUARTER_TURNS = 4
SIDEWAYS_SHARE = 0.8
"""Sideways column headings alone do not turn a table."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table as one reads it: where its columns begin, and the text of each cell by row."""

    columns: tuple[float, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(eq=False, slots=True)
class Table:
    """Cells as boxes (left, top, right, bottom), the texts of those that have any, and which way these run: how often each number of
    quarter turns against the clock was met.
    """

    cells: Sequence[Box]
    texts: dict[int, list[str]] = field(default_factory=dict)
    directions: Counter[int] = field(default_factory=Counter)
    box: Box = field(init=False)
    _tops: list[float] = field(init=False)
    _lefts: list[tuple[list[float], list[int]]] = field(init=False)

    def __post_init__(self) -> None:
        lefts, tops, rights, bottoms = zip(*self.cells, strict=True)
        self.box = (min(lefts), min(tops), max(rights), max(bottoms))
        self._tops = sorted({each[1] for each in self.cells})
        by_top: dict[float, list[tuple[float, int]]] = {top: [] for top in self._tops}
        for number, each in enumerate(self.cells):
            by_top[each[1]].append((each[0], number))
        self._lefts = []
        for top in self._tops:
            ordered = sorted(by_top[top])
            self._lefts.append(([left for left, _ in ordered], [number for _, number in ordered]))

    def cell_at(self, x: float, y: float) -> int | None:
        """The cell that holds a point. Cells over several rows are found from the rows above."""
        left, top, right, bottom = self.box
        if not (left <= x <= right and top <= y <= bottom):
            return None
        for row in range(bisect_right(self._tops, y) - 1, -1, -1):
            lefts, numbers = self._lefts[row]
            at = bisect_right(lefts, x) - 1
            if at >= 0:
                _, _, right, bottom = self.cells[numbers[at]]
                if x <= right and y <= bottom:
                    return numbers[at]
        return None

    def grid(self, page_turns: int) -> Grid:
        """Rows and columns as one reads them, columns without any text left out. A merged cell has its text at its top left.

        `page_turns` are the quarter turns by which the page is shown; they count where the characters do not agree on a direction.
        """
        quarter, count = self.directions.most_common(1)[0] if self.directions else (0, 0)
        turns = -quarter % QUARTER_TURNS if count >= SIDEWAYS_SHARE * self.directions.total() else page_turns
        places = {number: _place(cell, turns) for number, cell in enumerate(self.cells)}
        rows = {top: number for number, top in enumerate(sorted({top for top, _ in places.values()}))}
        lefts = sorted({places[number][1] for number, text in self.texts.items() if not "".join(text).isspace()})
        columns = {left: number for number, left in enumerate(lefts)}
        texts = [[""] * len(columns) for _ in rows]
        for number, text in self.texts.items():
            top, left = places[number]
            if left in columns:
                texts[rows[top]][columns[left]] = "".join(text)
        return Grid(tuple(lefts), tuple(tuple(row) for row in texts))


def _place(cell: Box, turns: int) -> tuple[float, float]:
    """Top and left of a cell when the page has been turned clockwise."""
    left, top, right, bottom = cell
    return ((top, left), (left, -bottom), (-bottom, -right), (-right, top))[turns % QUARTER_TURNS]

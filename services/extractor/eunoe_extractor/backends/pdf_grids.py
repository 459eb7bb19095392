"""From rules to the cells of tables: the method of pdfplumber and Tabula (A. Nurminen, "Algorithmic extraction of data in tables in
PDF documents", 2013), with sets of crossings kept as bits of integers, so that a page costs milliseconds.

Rules closer than `NEAR` points count as one, pieces of a rule closer than that are joined; a cell is the smallest rectangle of crossings
joined by rules; cells that share a corner form a table.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from eunoe_extractor.backends.pdf_rules import Rule, Rules, TooMuchDrawn

Box = tuple[float, float, float, float]
Corner = tuple[int, int]
Pieces = list[tuple[float, float]]
NEAR = 3.0
CROSSINGS = 20_000


def tables(rules: Rules) -> list[list[Box]]:
    """The cells (left, top, right, bottom) of each table of at least two cells, from the top. Raises `TooMuchDrawn`."""
    if len(rules.across) < 2 or len(rules.down) < 2:  # noqa: PLR2004  # as on most pages
        return []
    ys, across = _merged(rules.across)
    xs, down = _merged(rules.down)
    if len(ys) < 2 or len(xs) < 2:  # noqa: PLR2004  # no rectangle without two of each
        return []
    lattice = _Lattice(xs, down, ys, across)
    found = [
        sorted(((xs[left], ys[top], xs[right], ys[bottom]) for left, top, right, bottom in cells), key=lambda cell: (cell[1], cell[0]))
        for cells in _grouped(lattice.cells())
        if len(cells) > 1
    ]
    return sorted(found, key=lambda cells: (cells[0][1], cells[0][0]))


def _merged(rules: Sequence[Rule]) -> tuple[list[float], list[Pieces]]:
    """Places in order, and the joined pieces at each; places nearer than `NEAR` become their mean."""
    places: list[float] = []
    pieces: list[Pieces] = []
    ordered = sorted(rules)
    for group in _near(ordered):
        joined: Pieces = []
        for start, end in sorted((start, end) for _, start, end in group):
            if joined and start <= joined[-1][1] + NEAR:
                joined[-1] = (joined[-1][0], max(joined[-1][1], end))
            else:
                joined.append((start, end))
        long = [each for each in joined if each[1] - each[0] >= NEAR]
        if long:
            places.append(sum(place for place, _, _ in group) / len(group))
            pieces.append(long)
    return places, pieces


def _near(ordered: Sequence[Rule]) -> Iterator[Sequence[Rule]]:
    cuts = [at for at in range(1, len(ordered)) if ordered[at][0] > ordered[at - 1][0] + NEAR]
    for start, end in itertools.pairwise([0, *cuts, len(ordered)]):
        if end > start:
            yield ordered[start:end]


class _Lattice:
    """Which crossings there are and which of them a rule joins.

    Columns count from the left, rows from the top. `_below[column][row]` has a bit for each row further down that one rule joins with
    this crossing, `_beside[row][column]` one for each column further right.
    """

    def __init__(self, xs: list[float], down: list[Pieces], ys: list[float], across: list[Pieces]) -> None:
        reach_down = [[_span(ys, *piece) for piece in pieces] for pieces in down]
        reach_across = [[_span(xs, *piece) for piece in pieces] for pieces in across]
        covered = [_union(masks) for masks in reach_across]
        column_crossings = [0] * len(xs)
        row_crossings = [0] * len(ys)
        count = 0
        for column, masks in enumerate(reach_down):
            for row in _bits(_union(masks)):
                if covered[row] >> column & 1:
                    column_crossings[column] |= 1 << row
                    row_crossings[row] |= 1 << column
                    count += 1
            if count > CROSSINGS:
                raise TooMuchDrawn
        self._below = [_joined(masks, points) for masks, points in zip(reach_down, column_crossings, strict=True)]
        self._beside = [_joined(masks, points) for masks, points in zip(reach_across, row_crossings, strict=True)]

    def cells(self) -> Iterator[tuple[int, int, int, int]]:
        """The smallest cell right of and below each crossing: columns and rows of its left, top, right, bottom."""
        for left, rows in enumerate(self._below):
            for top, below in rows.items():
                found = self._smallest(left, top, below)
                if found is not None:
                    yield left, top, *found

    def _smallest(self, left: int, top: int, below: int) -> Corner | None:
        beside = self._beside[top][left]
        for bottom in _bits(below):
            for right in _bits(beside & self._beside[bottom][left]):
                if self._below[right][top] >> bottom & 1:
                    return right, bottom
        return None


def _span(places: list[float], start: float, end: float) -> int:
    """Bits of the places that a piece touches."""
    first, after = bisect_left(places, start - NEAR), bisect_right(places, end + NEAR)
    return (1 << after) - (1 << first) if after > first else 0


def _union(masks: Sequence[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def _joined(masks: Sequence[int], crossings: int) -> dict[int, int]:
    """For each crossing of a line the crossings further along that one of its pieces reaches as well."""
    found = dict.fromkeys(_bits(crossings), 0)
    for mask in masks:
        for at in _bits(mask & crossings):
            found[at] |= (mask & crossings) >> (at + 1) << (at + 1)
    return found


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _grouped(cells: Iterator[tuple[int, int, int, int]]) -> list[list[tuple[int, int, int, int]]]:
    """Cells that are joined by shared corners, directly or through others."""
    group_of: dict[Corner, list[tuple[int, int, int, int]]] = {}
    for cell in cells:
        left, top, right, bottom = cell
        corners = [(left, top), (right, top), (left, bottom), (right, bottom)]
        groups = {id(group): group for corner in corners if (group := group_of.get(corner)) is not None}
        largest = max(groups.values(), key=len, default=[])
        for group in groups.values():
            if group is not largest:
                largest.extend(group)
                for a, b, c, d in group:
                    group_of[a, b] = group_of[c, b] = group_of[a, d] = group_of[c, d] = largest
        largest.append(cell)
        for corner in corners:
            group_of[corner] = largest
    return list({id(group): group for group in group_of.values()}.values())

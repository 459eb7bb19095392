"""Tables of a PDF page: a cheap gate by drawn lines, then pdfplumber for the cells, filled with the characters of pdfium.

pdfplumber alone mixes columns, reverses right-to-left text and doubles characters drawn twice (measured on a corpus of 22 files), so
that only its geometry is used.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pdfplumber
import pypdfium2.raw as pdfium

Box = tuple[float, float, float, float]
OBJECTS = 5_000
THIN, SHORTEST_RULE, SHORTEST_POST, SHADING = 3.0, 20.0, 8.0, 6.0
QUARTER_TURNS = 4


def may_have_tables(page: Any) -> bool:
    """Whether enough rules or shaded cells are drawn on a loaded page; looks at no more than `OBJECTS` objects."""
    across = down = shaded = 0
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    count = min(pdfium.FPDFPage_CountObjects(page), OBJECTS)
    for index in range(count):
        each = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(each) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        if not pdfium.FPDFPageObj_GetBounds(each, left, bottom, right, top):
            continue
        width, height = right.value - left.value, top.value - bottom.value
        if height < THIN and width > SHORTEST_RULE:
            across += 1
        elif width < THIN and height > SHORTEST_POST:
            down += 1
        elif width > SHORTEST_RULE and height > SHADING:
            shaded += 1
        if (across >= 2 and down >= 2) or shaded >= 2 or across >= 4 or down >= 4:  # noqa: PLR2004  # the measured gate
            return True
    return False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table's cells by row, as boxes (left, top, right, bottom) on the page as seen; None where cells are merged."""

    box: Box
    rows: tuple[tuple[Box | None, ...], ...]


class TableFinder:
    """Opens the file with pdfplumber when the first page is asked for. Use as a context manager."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pdf: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._pdf is not None:
            self._pdf.close()

    def grids(self, index: int) -> list[Grid]:
        """Tables of a page, counted from 0, that have at least two rows and two columns. Raises whatever pdfplumber raises."""
        if self._pdf is None:
            self._pdf = pdfplumber.open(self._path)
        page = self._pdf.pages[index]
        try:
            found = [Grid(table.bbox, tuple(tuple(row.cells) for row in table.rows)) for table in page.find_tables()]
        finally:
            page.close()
        return [each for each in found if len(each.rows) > 1 and max(len(row) for row in each.rows) > 1]


def fill(page: Any, text_page: Any, grids: list[Grid]) -> tuple[str, list[list[list[str]]]]:
    """The text of a page with U+E001, the number of the table, U+E002 in the place of each table, and the cells' texts by table."""
    place = _placer(page)
    cells: dict[tuple[int, int, int], list[str]] = {}
    outside: list[str] = []
    seen: set[int] = set()
    current: tuple[int, int, int] | None = None
    box = (ctypes.c_double * 4)()
    left, right, bottom, top = (ctypes.c_double.from_buffer(box, offset) for offset in (0, 8, 16, 24))
    for index in range(pdfium.FPDFText_CountChars(text_page)):
        code = pdfium.FPDFText_GetUnicode(text_page, index)
        character = chr(code) if code < 0x110000 else "\ufffd"  # noqa: PLR2004  # end of Unicode
        if character.isspace() or not pdfium.FPDFText_GetCharBox(text_page, index, left, right, bottom, top):
            (outside if current is None else cells[current]).append(character)
            continue
        x, y = place((left.value + right.value) / 2, (bottom.value + top.value) / 2)
        current = _cell_at(grids, x, y, current)
        if current is None:
            outside.append(character)
            continue
        if current[0] not in seen:
            seen.add(current[0])
            outside.append(f"\n\n\ue001{current[0]}\ue002\n\n")
        cells.setdefault(current, []).append(character)
    return "".join(outside), [_texts(number, grid, cells) for number, grid in enumerate(grids)]


def _texts(number: int, grid: Grid, cells: dict[tuple[int, int, int], list[str]]) -> list[list[str]]:
    return [["".join(cells.get((number, r, c), [])) for c in range(len(row))] for r, row in enumerate(grid.rows)]


def _cell_at(grids: list[Grid], x: float, y: float, last: tuple[int, int, int] | None) -> tuple[int, int, int] | None:
    """The cell that holds a point; the last one is tried first, as characters come in runs. None outside of all tables."""
    if last is not None:
        box = grids[last[0]].rows[last[1]][last[2]]
        if box is not None and _inside(box, x, y):
            return last
    for number, grid in enumerate(grids):
        if not _inside(grid.box, x, y):
            continue
        for r, row in enumerate(grid.rows):
            for c, box in enumerate(row):
                if box is not None and _inside(box, x, y):
                    return number, r, c
    return None


def _inside(box: Box, x: float, y: float) -> bool:
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _placer(page: Any) -> Any:
    """A function from pdfium's coordinates (origin at the bottom left, before rotation) to those of the page as seen (top left)."""
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    turns = pdfium.FPDFPage_GetRotation(page) % QUARTER_TURNS
    if pdfium.FPDFPage_GetMediaBox(page, left, bottom, right, top):
        x0, y0, width, height = left.value, bottom.value, right.value - left.value, top.value - bottom.value
    else:
        x0 = y0 = 0.0
        width, height = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
        if turns % 2:
            width, height = height, width
    return (
        lambda x, y: (x - x0, height - (y - y0)),
        lambda x, y: (y - y0, x - x0),
        lambda x, y: (width - (x - x0), y - y0),
        lambda x, y: (height - (y - y0), width - (x - x0)),
    )[turns]

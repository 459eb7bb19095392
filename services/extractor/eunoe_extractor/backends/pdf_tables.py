"""Tables of a PDF page: their cells from the rules that are drawn, filled with the characters of pdfium.

Which way a table reads is told by its characters: many a wide table stands sideways on an upright page.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import re
from collections.abc import Sequence
from typing import Any

import pypdfium2.raw as pdfium

from eunoe_extractor.backends.pdf_cells import QUARTER_TURNS, Grid, Table
from eunoe_extractor.backends.pdf_grids import Box, tables
from eunoe_extractor.backends.pdf_rules import drawn_rules

MARKS = {0xE001: "\ufffd", 0xE002: "\ufffd"}
"""What marks the place of a table, when the page has it itself."""
SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def find(page: Any, text_page: Any, raw: str) -> tuple[str, list[Grid]]:
    """The text `raw` of a loaded page with U+E001, the number of the table, U+E002 in the place of each table, and the tables.

    A table has at least two rows and two columns. Raises `TooMuchDrawn`.
    """
    found = [Table(cells) for cells in tables(drawn_rules(page)) if _has_rows_and_columns(cells)]
    if not found:
        return raw, []
    text = _fill(text_page, raw, found)
    turns = pdfium.FPDFPage_GetRotation(page)
    return text, [each.grid(turns) for each in found]


def _has_rows_and_columns(cells: Sequence[Box]) -> bool:
    """Whether some cells stand side by side and some above others; a row, a stack and steps of cells are no table."""
    left, top, right, bottom = (len(set(side)) for side in zip(*cells, strict=True))
    return min(left, top, right, bottom) > 1 and min(left, right) < len(cells) > min(top, bottom)


def _fill(text_page: Any, raw: str, found: Sequence[Table]) -> str:
    """Put the characters of the page into the cells; returns those outside, with a mark for each table."""
    filler = _Filler(text_page, found)
    characters = _characters(text_page, raw)
    start = 0
    for end in [*(at + 1 for at, each in enumerate(characters) if each == "\n"), len(characters)]:
        filler.add(characters, start, end)
        start = end
    return "".join(filler.outside)


def _characters(text_page: Any, raw: str) -> Sequence[str]:
    """The text by pdfium's numbers of characters, which skip none, unlike the text that it gives for the page.

    A character that takes two numbers stands at the first.
    """
    count = pdfium.FPDFText_CountChars(text_page)
    if len(raw) == count:
        return raw.translate(MARKS)
    codes = (pdfium.FPDFText_GetUnicode(text_page, index) for index in range(count))
    found = [chr(code).translate(MARKS) if code < 0x110000 else "\ufffd" for code in codes]  # noqa: PLR2004  # end of Unicode
    for index, (one, other) in enumerate(itertools.pairwise(found)):
        if SURROGATES.fullmatch(one + other):
            found[index : index + 2] = (one + other).encode("utf-16-le", "surrogatepass").decode("utf-16-le"), ""
    return found


class _Filler:
    """Takes a page line by line. Most lines lie outside of all tables, which the boxes of their pieces tell at once."""

    def __init__(self, text_page: Any, found: Sequence[Table]) -> None:
        self.outside: list[str] = []
        self._text_page = text_page
        self._found = found
        self._into = self.outside
        self._cell: Box | None = None
        self._sides = tuple(ctypes.c_double() for _ in range(4))

    def add(self, characters: Sequence[str], start: int, end: int) -> None:
        """The next line."""
        if self._touches_table(start, end):
            self._add_each(characters, start, end)
        else:
            self._cell, self._into = None, self.outside
            self.outside.append("".join(characters[start:end]))

    def _touches_table(self, start: int, end: int) -> bool:
        left, top, right, bottom = self._sides
        for number in range(pdfium.FPDFText_CountRects(self._text_page, start, end - start)):
            pdfium.FPDFText_GetRect(self._text_page, number, left, top, right, bottom)
            box = (left.value, -top.value, right.value, -bottom.value)
            if any(_overlap(box, table.box) for table in self._found):
                return True
        return False

    def _add_each(self, characters: Sequence[str], start: int, end: int) -> None:
        left, top, right, bottom = self._sides
        text_page, box_of = self._text_page, pdfium.FPDFText_GetCharBox
        for index in range(start, end):
            character = characters[index]
            if not character.isspace() and box_of(text_page, index, left, right, bottom, top):
                x, y = (left.value + right.value) / 2, -(bottom.value + top.value) / 2
                cell = self._cell
                if cell is None or not (cell[0] <= x <= cell[2] and cell[1] <= y <= cell[3]):
                    self._enter(index, x, y)
            self._into.append(character)

    def _enter(self, index: int, x: float, y: float) -> None:
        """Go on with the cell that holds a point, or outside."""
        self._cell, self._into = None, self.outside
        for number, table in enumerate(self._found):
            at = table.cell_at(x, y)
            if at is not None:
                if not table.texts:
                    self.outside.append(f"\n\n\ue001{number}\ue002\n\n")
                self._cell, self._into = table.cells[at], table.texts.setdefault(at, [])
                angle = pdfium.FPDFText_GetCharAngle(self._text_page, index)
                if math.isfinite(angle):  # a broken font matrix gives none
                    table.directions[round(angle / (math.pi / 2)) % QUARTER_TURNS] += 1
                return


def _overlap(one: Box, other: Box) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]

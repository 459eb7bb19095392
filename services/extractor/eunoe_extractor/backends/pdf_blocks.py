"""From the text and the tables of PDF pages to blocks: headings, paragraphs, and tables that go on over the end of a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from eunoe_extractor.backends.blocks import BlockList
from eunoe_extractor.backends.pdf_cells import Grid
from eunoe_extractor.backends.pdf_grids import NEAR
from eunoe_extractor.backends.pdf_lines import join_paragraphs, numbered_level, page_lines
from eunoe_extractor.parsed import Block, BlockKind

Heading = tuple[str, int]
PLACE = re.compile("\ue001(\\d{1,4})\ue002")
YEAR = re.compile(r"(?:19|20)\d\d")
FURNITURE_LINES = 3
"""Most lines of a running title or a footer between a table and the edge of its page."""


@dataclass(frozen=True, slots=True)
class _CutTable:
    """A table with nothing but a footer below it, and the first lines of its page, which the next page may repeat."""

    page: int
    columns: tuple[float, ...]
    header: tuple[str, ...]
    top_lines: frozenset[str]


class PageBlocks:
    """Takes the pages in order."""

    def __init__(self) -> None:
        self._blocks = BlockList()
        self._cut: _CutTable | None = None

    @property
    def blocks(self) -> Sequence[Block]:
        """What was made so far."""
        return self._blocks.blocks

    def add(self, raw: str, tables: Sequence[Grid], *, page: int, headings: Sequence[Heading]) -> None:
        """A page: its text, with U+E001, the number of a table, U+E002 in the place of each, its tables, titles and levels of bookmarks.

        A table at the top of a page that goes on with the one at the end of the page before gets the header of that one.
        """
        if not tables:
            self._cut = None
            self._add_lines(page_lines(raw), headings, page)
            return
        pieces = PLACE.split(raw)
        top = [line for line in page_lines(pieces[0]) if line][: FURNITURE_LINES + 1]
        before, self._cut = self._cut, None
        for number, piece in enumerate(pieces):
            if number % 2:
                is_first = number == 1 and before is not None and before.page == page - 1
                self._cut = self._add_table(tables[int(piece)], headings, page, top, before if is_first else None)
            else:
                lines = page_lines(piece)
                self._add_lines(lines, headings, page)
                if sum(map(bool, lines)) > FURNITURE_LINES:
                    self._cut = None

    def _add_table(
        self, table: Grid, headings: Sequence[Heading], page: int, top: Sequence[str], before: _CutTable | None
    ) -> _CutTable | None:
        """A table; what has text in one column only is a frame around text."""
        if len(table.columns) <= 1:
            for (cell,) in table.rows:
                self._add_lines(page_lines(cell), headings, page)
            return None
        rows = [tuple(" ".join(page_lines(cell)).strip() for cell in row) for row in table.rows]
        rows = [row for row in rows if any(row)]
        header = before.header if before is not None and _goes_on(before, table.columns, rows, top) else None
        self._blocks.table(rows if header is None else [header, *rows], page=page)
        return _CutTable(page, table.columns, header or rows[0], frozenset(map(_without_numbers, top)))

    def _add_lines(self, lines: list[str], headings: Sequence[Heading], page: int) -> None:
        """Paragraphs, cut at lines that the outline or their own number shows to be headings."""
        levels = {_key(title): level for title, level in headings}
        start = 0
        for at, line in enumerate(lines):
            level = levels.pop(_key(line), None) if levels and line else None
            level = numbered_level(line) if level is None else level
            if level is not None:
                self._add_paragraphs(lines[start:at], page)
                self._blocks.heading(line, level, page=page)
                start = at + 1
        self._add_paragraphs(lines[start:], page)

    def _add_paragraphs(self, lines: list[str], page: int) -> None:
        for paragraph in join_paragraphs(lines):
            self._blocks.add(BlockKind.PARAGRAPH, paragraph, page=page)


def _goes_on(cut: _CutTable, columns: Sequence[float], rows: Sequence[tuple[str, ...]], top: Sequence[str]) -> bool:
    """Whether rows belong to the table of the page before: the same columns, nothing new above them, and no header of their own."""
    same_columns = len(columns) == len(cut.columns) and all(
        abs(one - other) <= NEAR for one, other in zip(columns, cut.columns, strict=True)
    )
    repeated_top = len(top) <= FURNITURE_LINES and all(_is_number(line) or _without_numbers(line) in cut.top_lines for line in top)
    return same_columns and repeated_top and _is_header(cut.header) and not _has_header(rows, cut.header)


def _is_header(row: Sequence[str]) -> bool:
    """Whether at least half of the cells are words or years; the first row of a table need not be its header."""
    return 2 * sum(not _has_figure(cell) or YEAR.fullmatch(cell) is not None for cell in row) >= len(row)


def _has_header(rows: Sequence[tuple[str, ...]], before: tuple[str, ...]) -> bool:
    """Whether the first row is the header of before again, or has no figures above a column of nothing else."""
    if not rows or rows[0] == before:
        return True
    if any(map(_has_figure, rows[0])) or len(rows) == 1:
        return False
    return any(all(map(_has_figure, column)) for column in zip(*rows[1:], strict=True))


def _has_figure(text: str) -> bool:
    return any(each.isdigit() for each in text)


def _is_number(line: str) -> bool:
    return not any(each.isalpha() for each in line)


def _without_numbers(line: str) -> str:
    return "".join(each for each in line.casefold() if each.isalpha())


def _key(title: str) -> str:
    return "".join(each for each in title.casefold() if each.isalnum())

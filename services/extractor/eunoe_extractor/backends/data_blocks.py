"""Blocks of data files: a ceiling on their number, sections that end, and long tables in parts that each repeat the header."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eunoe_contracts.errors import BudgetExceeded

from eunoe_extractor.backends.blocks import BlockList, clean
from eunoe_extractor.parsed import Block, BlockKind

ROWS = 200
PART_CHARS = 100_000
DEEPEST_HEADING = 6
LONGEST_TITLE = 200
SPARE_CELLS = 1_000_000
PADDING = 8


class DataBlocks(BlockList):
    """A `BlockList` that raises `BudgetExceeded` as soon as there are more than `most` blocks."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self._given = self._padded = 0

    def section(self, title: str, level: int) -> None:
        """Start a section: a heading, or a paragraph when the title is too long for a heading. Levels deeper than 6 count as 6."""
        level = min(level, DEEPEST_HEADING)
        title = clean(title)
        self.close(level)
        if len(title) > LONGEST_TITLE:
            self.add(BlockKind.PARAGRAPH, title)
        else:
            self.heading(title, level)
        self._check()

    def close(self, level: int) -> None:
        """End all sections of that level and deeper; what follows belongs to the section around them."""
        while self._path and self._path[-1][0] >= min(level, DEEPEST_HEADING):
            self._path.pop()

    def add(self, kind: BlockKind, text: str, *, page: int | None = None, language: str = "") -> None:
        """See `BlockList.add`."""
        super().add(kind, text, page=page, language=language)
        self._check()

    def lines(self, kind: BlockKind, lines: Iterable[str], *, most: int = 40, chars: int = 2000) -> None:
        """Add lines as blocks of at most `most` lines; a block also ends when it has more than `chars` characters."""
        part: list[str] = []
        size = 0
        for line in lines:
            part.append(line)
            size += len(line)
            if len(part) >= most or size > chars:
                self.add(kind, "\n".join(part).strip("\n"))
                part, size = [], 0
        self.add(kind, "\n".join(part).strip("\n"))

    def put(self, block: Block) -> None:
        """Add a finished block."""
        self.blocks.append(block)
        self._check()

    def long_table(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Add a table in parts of some hundred rows, each with the header. Rows are taken one by one.

        A part has at least as many characters as the header, so that repeating it at most doubles the text. Raises `BudgetExceeded`
        when most cells would only fill up short rows.
        """
        part: list[Sequence[str]] = []
        size, least = 0, sum(map(len, header)) + len(header)
        wrote = False
        for row in rows:
            if part and self._wasteful(header, part, row):
                self._part(header, part)
                part, size, wrote = [], 0, True
            part.append(row)
            size += sum(map(len, row)) + len(row)
            if size >= least and (len(part) >= ROWS or size >= PART_CHARS):
                self._part(header, part)
                part, size, wrote = [], 0, True
        if part or not wrote:
            self._part(header, part)

    def _wasteful(self, header: Sequence[str], part: Sequence[Sequence[str]], row: Sequence[str]) -> bool:
        """Whether a row is so much wider than those before that padding them is not worth it."""
        return len(row) > PADDING * max(len(header), len(part[0])) + ROWS

    def _part(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        width = max(len(header), max(map(len, rows), default=0))
        self._given += sum(map(len, rows)) + len(header)
        self._padded += width * (len(rows) + 1)
        if self._padded > PADDING * self._given + SPARE_CELLS:
            raise BudgetExceeded("the rows of the table differ too much in their number of cells")
        if any(cell.strip() for row in rows for cell in row) or any(cell.strip() for cell in header):
            self.table([header, *rows])
        self._check()

    def _check(self) -> None:
        if len(self.blocks) > self._most:
            raise BudgetExceeded("the document has too many parts")

"""Rows of a spreadsheet become tables. Empty rows end a table; what follows goes on under its header when it has none of its own."""

from __future__ import annotations

from eunoe_extractor.backends.delimited_header import split_header
from eunoe_extractor.backends.part_blocks import PartBlocks
from eunoe_extractor.parsed import BlockKind

HEAD_ROWS = 100


class SheetRows:
    """Takes the rows of one sheet in order and adds their blocks; `finish` must be called after the last."""

    def __init__(self, blocks: PartBlocks) -> None:
        self._blocks = blocks
        self._rows: list[list[str]] = []
        self._header: list[str] = []
        self._columns: list[int] = []

    def row(self, cells: list[str]) -> None:
        """One row; a row without text is a gap."""
        if any(cell.strip() for cell in cells):
            self._rows.append(cells)
        elif self._rows:
            self.finish()

    def finish(self) -> None:
        """Add what was taken since the last gap."""
        rows, self._rows = self._rows, []
        if not rows:
            return
        used = sorted({index for row in rows for index, cell in enumerate(row) if cell.strip()})
        if len(used) == 1:
            self._blocks.lines(BlockKind.PARAGRAPH, (row[used[0]] for row in rows if len(row) > used[0]))
            return
        self._table([[row[index] if index < len(row) else "" for index in used] for row in rows], used)

    def _table(self, rows: list[list[str]], columns: list[int]) -> None:
        titles, header, taken = split_header(rows[:HEAD_ROWS])
        for title in titles:
            self._blocks.add(BlockKind.PARAGRAPH, " ".join(cell for cell in title if cell.strip()))
        made_up = taken == len(titles)
        if made_up and columns == self._columns:
            header = self._header
        self._header, self._columns = header, columns
        self._blocks.long_table(header, iter(rows[taken:]))

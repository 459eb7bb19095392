"""A flow of RTF text: its characters become paragraphs, items, headings and rows; then blocks."""

from __future__ import annotations

import re

from eunoe_extractor.backends.blocks import clean
from eunoe_extractor.backends.data_blocks import DataBlocks
from eunoe_extractor.parsed import BlockKind

NUMBER = re.compile(r"[(]?(\w{1,9}(?:[.]\w{1,4}){0,8})[.)]")
DEEPEST_LEVEL = 8


class Flow:
    """Text that is read together: the body, or one note. `later` holds texts that follow the paragraph or table."""

    def __init__(self, kind: str, name: str = "") -> None:
        self.kind = kind
        self.name = name
        self.later: list[str] = []
        self._parts: list[str] = []
        self._cells: list[str] = []
        self._rows: list[list[str]] = []
        self._items: list[str] = []

    def write(self, text: str) -> None:
        """Take some characters."""
        self._parts.append(text)

    def take(self) -> str:
        """All characters since the last call; pairs of surrogates are joined."""
        text = "".join(self._parts)
        self._parts.clear()
        return clean(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))

    def cell(self) -> None:
        """End a cell."""
        self._cells.append(self.take())

    def row(self) -> None:
        """End a row."""
        if self._cells:
            self._rows.append(self._cells)
            self._cells = []

    def paragraph(self, blocks: DataBlocks, *, heading: int, level: int, mark: str) -> None:
        """End a paragraph outside of tables: a heading of a level above 0, an item when there is a mark, else plain text."""
        self._table(blocks)
        text = self.take().strip()
        if mark and text and not heading:
            indent = "  " * min(level, DEEPEST_LEVEL)
            self._items.append(f"{indent}{_shown(mark)} " + text.replace("\n", f"\n{indent}  "))
            return
        self._list(blocks)
        if heading:
            blocks.section(" ".join(text.split()), heading)
        else:
            blocks.add(BlockKind.PARAGRAPH, text)
        self._after(blocks)

    def finish(self, blocks: DataBlocks) -> None:
        """Add what is left. A row that was begun is a row."""
        if self._cells:
            self.cell()
        self.row()
        self.paragraph(blocks, heading=0, level=0, mark="")

    def _table(self, blocks: DataBlocks) -> None:
        rows, self._rows = self._rows, []
        if rows:
            self._list(blocks)
            blocks.long_table(rows[0], iter(rows[1:]))
            self._after(blocks)

    def _list(self, blocks: DataBlocks) -> None:
        if self._items:
            blocks.add(BlockKind.LIST, "\n".join(self._items))
            self._items.clear()
            self._after(blocks)

    def _after(self, blocks: DataBlocks) -> None:
        for text in self.later:
            blocks.add(BlockKind.PARAGRAPH, text)
        self.later.clear()


def _shown(mark: str) -> str:
    """The mark of an item: its number, or a dash for any other sign."""
    found = NUMBER.fullmatch(mark.strip())
    return f"{found[1]}." if found else "-"

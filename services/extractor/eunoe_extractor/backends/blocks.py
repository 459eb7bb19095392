"""Building blocks in reading order: heading path, tables as Markdown, text without control characters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from eunoe_extractor.parsed import Block, BlockKind

CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufeff\ufffe\uffff\ud800-\udfff]")
LINE_ENDS = re.compile("\r\n?|\x0c|\x85|\u2028|\u2029")


def clean(text: str) -> str:
    """Line ends as line feeds; no control characters, byte order marks or lone surrogates."""
    return CONTROLS.sub("", LINE_ENDS.sub("\n", text))


class BlockList:
    """Collects blocks and gives each the titles of the headings above it."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._path: list[tuple[int, str]] = []

    @property
    def heading_path(self) -> tuple[str, ...]:
        """Titles above the next block, outermost first."""
        return tuple(title for _, title in self._path)

    def heading(self, text: str, level: int, *, page: int | None = None) -> None:
        """Add a heading; ends all sections of its level and deeper. Empty titles are dropped."""
        title = " ".join(text.split())
        if not title:
            return
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self.blocks.append(Block(BlockKind.HEADING, title, level=level, page=page, heading_path=self.heading_path))
        self._path.append((level, title))

    def add(self, kind: BlockKind, text: str, *, page: int | None = None, language: str = "") -> None:
        """Add a block of text; white space only is dropped."""
        if text.strip():
            self.blocks.append(Block(kind, text, page=page, heading_path=self.heading_path, language=language))

    def table(self, rows: Sequence[Sequence[str]], *, page: int | None = None) -> None:
        """Add a table whose first row is its header. Rows without any text are dropped, all rows get the same width."""
        kept = [[" ".join(cell.split()) for cell in row] for row in rows]
        kept = [row for row in kept if any(row)]
        if not kept:
            return
        width = max(len(row) for row in kept)
        header, *body = (tuple(row) + ("",) * (width - len(row)) for row in kept)
        text = table_text(header, body)
        block = Block(BlockKind.TABLE, text, page=page, heading_path=self.heading_path, header=header, rows=tuple(body))
        self.blocks.append(block)


def table_text(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A Markdown pipe table."""
    lines = [_line(header), "|" + " --- |" * len(header), *(_line(row) for row in rows)]
    return "\n".join(lines)


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

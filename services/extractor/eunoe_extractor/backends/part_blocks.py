"""Blocks of documents made of slides or sheets: each has a heading with its name, unless there is no text in it."""

from __future__ import annotations

from collections.abc import Sequence

from eunoe_extractor.backends.blocks import clean
from eunoe_extractor.backends.data_blocks import LONGEST_TITLE, DataBlocks
from eunoe_extractor.parsed import BlockKind


class PartBlocks(DataBlocks):
    """A `DataBlocks` whose blocks carry the page of the part they are in."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._page: int | None = None
        self._awaiting = ""

    def begin(self, name: str, *, page: int | None = None) -> None:
        """Start a part. Its heading is written before its first block, so never when there is none."""
        self.close(1)
        self._page = page
        self._awaiting = name

    def slide(self, number: int, title: str) -> None:
        """Start a slide. Its heading is its title; without one, or with one of many words, its number."""
        self.begin(f"Slide {number}", page=number)
        title = " ".join(clean(title).split())
        if len(title) > LONGEST_TITLE:
            self.add(BlockKind.PARAGRAPH, title)
        elif title:
            self._awaiting = ""
            self.section(title, 1)

    def heading(self, text: str, level: int, *, page: int | None = None) -> None:
        """See `BlockList.heading`."""
        self._announce()
        super().heading(text, level, page=page or self._page)

    def add(self, kind: BlockKind, text: str, *, page: int | None = None, language: str = "") -> None:
        """See `BlockList.add`."""
        if text.strip():
            self._announce()
            super().add(kind, clean(text), page=page or self._page, language=language)

    def table(self, rows: Sequence[Sequence[str]], *, page: int | None = None) -> None:
        """See `BlockList.table`."""
        if any(cell.strip() for row in rows for cell in row):
            self._announce()
            super().table([[clean(cell) for cell in row] for row in rows], page=page or self._page)

    def _announce(self) -> None:
        name, self._awaiting = self._awaiting, ""
        if name:
            self.section(name, 1)

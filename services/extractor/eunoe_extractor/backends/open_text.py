"""Text of OpenDocument: headings, paragraphs, lists, tables, notes, comments and shapes in the order of the file."""

from __future__ import annotations

import re
from typing import Any

from eunoe_extractor.backends.open_names import DRAW, DUBLIN, LINK, OFFICE, STYLE, TABLE, TEXT, count
from eunoe_extractor.backends.open_rows import OpenRows
from eunoe_extractor.backends.package import Package, resolve
from eunoe_extractor.backends.part_blocks import PartBlocks
from eunoe_extractor.parsed import BlockKind

SPACES = re.compile(r"[ \t\r\n]+")
TITLE = "Title"
MOST_SPACES = 40
PARAGRAPHS = frozenset({f"{TEXT}p", f"{TEXT}h"})
UNSEEN = frozenset({f"{TEXT}tracked-changes", f"{TEXT}ruby-text", f"{OFFICE}forms", f"{OFFICE}event-listeners", f"{TEXT}note-citation"})
CHARACTERS = {f"{TEXT}tab": "\t", f"{TEXT}line-break": "\n"}
ROW_GROUPS = frozenset({f"{TABLE}{each}" for each in ("table-header-rows", "table-rows", "table-row-group")})


class OpenText:
    """Adds the content of elements to `blocks`. Notes, comments and shapes that stand inside a paragraph follow it."""

    def __init__(self, blocks: PartBlocks, package: Package) -> None:
        self._blocks = blocks
        self._package = package
        self._rows = OpenRows(self.cell)
        self._numbered: set[tuple[str, int]] = set()
        self._titles: set[str | None] = {TITLE}
        self._later: list[str | Any] = []
        self._notes = 0
        self._objects: set[str] = set()

    def learn(self, styles: Any) -> None:
        """Take from a tree which lists have numbers, and which paragraphs are the title."""
        for style in styles.iter(f"{TEXT}list-style"):
            for each in style.iterchildren(f"{TEXT}list-level-style-number"):
                if each.get(f"{STYLE}num-format"):
                    self._numbered.add((style.get(f"{STYLE}name") or "", count(each.get(f"{TEXT}level"), 10)))
        derived = styles.iter(f"{STYLE}style")
        self._titles |= {each.get(f"{STYLE}name") for each in derived if each.get(f"{STYLE}parent-style-name") == TITLE}

    def body(self, parent: Any) -> None:
        """Add all children of an element."""
        for child in parent:
            self.element(child)

    def element(self, element: Any) -> None:
        """Add one element, whatever it is; what is not known is a box for its children."""
        tag = element.tag
        if tag in UNSEEN:
            return
        if tag == f"{TEXT}h" or (tag == f"{TEXT}p" and element.get(f"{TEXT}style-name") in self._titles):
            self._blocks.section(" ".join(self.inline(element).split()), count(element.get(f"{TEXT}outline-level"), 6))
        elif tag == f"{TEXT}p":
            self._blocks.add(BlockKind.PARAGRAPH, self.inline(element).strip())
        elif tag == f"{TEXT}list":
            self._list(element)
        elif tag == f"{TABLE}table":
            self._table(element)
        elif tag == f"{DRAW}object":
            self._object(element)
        elif tag == f"{OFFICE}annotation":
            self._comment(element)
        else:
            self.body(element)
            return
        self.flush()

    def flush(self) -> None:
        """Add the notes, comments and shapes that wait for the end of their paragraph, table or list."""
        while self._later:
            waiting, self._later = self._later, []
            for each in waiting:
                if isinstance(each, str):
                    self._blocks.add(BlockKind.PARAGRAPH, each)
                else:
                    self.element(each)

    def inline(self, element: Any) -> str:
        """The text of a paragraph without that of its notes, comments and shapes."""
        parts: list[str] = []
        self._inline(element, parts)
        return "".join(parts)

    def _inline(self, element: Any, parts: list[str]) -> None:
        parts.append(SPACES.sub(" ", element.text or ""))
        for child in element:
            tag = child.tag
            if tag in CHARACTERS:
                parts.append(CHARACTERS[tag])
            elif tag == f"{TEXT}s":
                parts.append(" " * count(child.get(f"{TEXT}c"), MOST_SPACES))
            elif tag == f"{TEXT}note":
                parts.append(self._note(child))
            elif tag == f"{OFFICE}annotation":
                self._comment(child)
            elif isinstance(tag, str) and tag.startswith(DRAW) and tag != f"{DRAW}a":
                self._later.append(child)
            elif tag not in UNSEEN:
                self._inline(child, parts)
            parts.append(SPACES.sub(" ", child.tail or ""))

    def _note(self, note: Any) -> str:
        """Keep the note for later; returns its mark in the text."""
        self._notes += 1
        mark = f"[{self._notes}]"
        at = len(self._later)
        self._later.append("")
        self._later[at] = f"{mark} {self.cell(note)}"
        return mark

    def _comment(self, comment: Any) -> None:
        author = comment.findtext(f"{DUBLIN}creator") or ""
        text = " ".join(self.cell(each) for each in comment if each.tag not in {f"{DUBLIN}creator", f"{DUBLIN}date"}).strip()
        if text:
            self._later.append(f"Comment ({author}): {text}" if author else f"Comment: {text}")

    def wait(self, shape: Any) -> None:
        """Keep a shape for the next `flush`."""
        self._later.append(shape)

    def box(self, shape: Any) -> str:
        """All paragraphs of a shape in one line, text boxes inside included."""
        return " ".join(filter(None, (" ".join(self.inline(each).split()) for each in shape.iter(*PARAGRAPHS))))

    def cell(self, box: Any) -> str:
        """All paragraphs of an element in one line; shapes in it wait for their turn."""
        if box.tag in PARAGRAPHS:
            return " ".join(self.inline(box).split())
        parts = []
        for child in box:
            if child.tag == f"{OFFICE}annotation":
                self._comment(child)
            elif isinstance(child.tag, str) and child.tag.startswith(DRAW):
                self._later.append(child)
            elif child.tag not in UNSEEN:
                parts.append(self.cell(child))
        return " ".join(each for each in parts if each)

    def _list(self, element: Any) -> None:
        lines: list[str] = []
        self._items(element, 0, element.get(f"{TEXT}style-name") or "", lines)
        self._blocks.add(BlockKind.LIST, "\n".join(lines))

    def _items(self, element: Any, level: int, style: str, lines: list[str]) -> None:
        numbered = (style, level + 1) in self._numbered
        shown = min(level, 8)
        number = 0
        for item in element:
            number += item.tag == f"{TEXT}list-item"
            mark = f"{number}." if numbered else "-"
            for child in item:
                if child.tag == f"{TEXT}list":
                    self._items(child, level + 1, child.get(f"{TEXT}style-name") or style, lines)
                elif child.tag == f"{TEXT}h":
                    self._blocks.add(BlockKind.LIST, "\n".join(lines))
                    lines.clear()
                    self.element(child)
                elif child.tag not in PARAGRAPHS:
                    self._later.append(child)
                elif text := self.inline(child).strip():
                    text = text.replace("\n", "\n" + "  " * (shown + 1))
                    lines.append("  " * shown + (f"{mark} {text}" if mark else f"  {text}"))
                    mark = ""

    def _table(self, table: Any) -> None:
        self._rows.begin()
        rows = (cells for row in _rows_of(table) for cells in self._rows.repeated(row) if cells)
        header = next(rows, None)
        if header is not None:
            self._blocks.long_table(header, rows)

    def _object(self, element: Any) -> None:
        """An embedded document, each read once: a chart has titles and a table of its values."""
        folder = resolve("content.xml", element.get(LINK) or "") or ""
        tree = None if folder in self._objects else self._package.optional(f"{folder}/content.xml")
        self._objects.add(folder)
        body = None if tree is None else tree.find(f"{OFFICE}body")
        if body is not None:
            self.body(body)


def _rows_of(table: Any) -> list[Any]:
    found = []
    for child in table:
        if child.tag == f"{TABLE}table-row":
            found.append(child)
        elif child.tag in ROW_GROUPS:
            found += _rows_of(child)
    return found

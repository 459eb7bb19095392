"""ODS: the rows of all sheets, streamed, so that a large workbook needs little memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eunoe_contracts.errors import CorruptDocument
from lxml import etree

from eunoe_extractor.backends.open_names import STYLE, TABLE
from eunoe_extractor.backends.open_rows import OpenRows
from eunoe_extractor.backends.open_text import OpenText
from eunoe_extractor.backends.package import DAMAGED, SAFE, Package
from eunoe_extractor.backends.part_blocks import PartBlocks
from eunoe_extractor.backends.sheet_rows import SheetRows

SHEET, ROW, SHAPES, STYLE_TAG = f"{TABLE}table", f"{TABLE}table-row", f"{TABLE}shapes", f"{STYLE}style"


class OpenSheets:
    """Adds the sheets to `blocks`; `hidden` counts those that are not shown."""

    def __init__(self, blocks: PartBlocks, text: OpenText) -> None:
        self.hidden = 0
        self._blocks = blocks
        self._text = text
        self._cells = OpenRows(text.cell)
        self._rows = SheetRows(blocks)
        self._depth = 0
        self._unseen: set[str] = set()

    def read(self, package: Package) -> None:
        """Read all sheets. Raises `CorruptDocument`, `BudgetExceeded`."""
        try:
            with package.open("content.xml") as stream:
                for event, element in _events(stream):
                    self._start(element) if event == "start" else self._end(element)
        except (etree.XMLSyntaxError, *DAMAGED) as error:
            raise CorruptDocument("the workbook is damaged") from error

    def _start(self, element: Any) -> None:
        if element.tag != SHEET:
            return
        self._depth += 1
        if self._depth == 1:
            self._blocks.begin(element.get(f"{TABLE}name") or "")
            self._cells.begin()
            self.hidden += element.get(f"{TABLE}style-name") in self._unseen

    def _end(self, element: Any) -> None:
        if element.tag == STYLE_TAG:
            properties = element.find(f"{STYLE}table-properties")
            if properties is not None and properties.get(f"{TABLE}display") == "false":
                self._unseen.add(element.get(f"{STYLE}name") or "")
        elif element.tag == SHEET:
            self._depth -= 1
            if self._depth == 0:
                self._rows.finish()
                self._text.flush()
        elif self._depth == 1 and element.tag == ROW:
            for cells in self._cells.repeated(element):
                self._rows.row(cells)
            _free(element)
        elif self._depth == 1 and element.tag == SHAPES:
            for each in list(element):
                self._text.wait(each)


def _events(stream: Any) -> Iterator[tuple[str, Any]]:
    yield from etree.iterparse(stream, events=("start", "end"), tag=(SHEET, ROW, SHAPES, STYLE_TAG), **SAFE)


def _free(row: Any) -> None:
    """Drop a row that was read and all before it."""
    row.clear()
    parent = row.getparent()
    while row.getprevious() is not None:
        del parent[0]

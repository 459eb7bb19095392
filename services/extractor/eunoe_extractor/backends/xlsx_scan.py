"""A quick look at the XML of a sheet, before its rows are built: how many cells, merged ranges, hidden rows, unknown results."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from eunoe_contracts.errors import BudgetExceeded, CorruptDocument

from eunoe_extractor.backends.package import DAMAGED, Package

PIECE = 4 * 1024 * 1024
MOST_CELLS, MOST_VALUES = 4_000_000, 2_000_000
MOST_IN_ROW = 100_000
MOST_MERGED = 100_000
ROW_END = b"row>"
CELL = re.compile(rb"<(?:\w{1,20}:)?c[ />\r\n\t]")
VALUE = re.compile(rb"<(?:\w{1,20}:)?(?:v|is)[ >]")
UNKNOWN = re.compile(
    rb"(?:</(?:\w{1,20}:)?f>|<(?:\w{1,20}:)?f [^<>]{0,500}/>)\s{0,20}"
    rb"(?:<(?:\w{1,20}:)?v\s?/>|<v></v>)?</(?:\w{1,20}:)?c>"
)
HIDDEN = re.compile(rb"<(?:\w{1,20}:)?(?:row|col) [^<>]{0,500}hidden=[\"'](?:1|true)[\"']")
MERGED = re.compile(rb"<(?:\w{1,20}:)?mergeCell [^<>]{0,200}ref=[\"']([A-Z]{1,3})(\d{1,7}):[A-Z]{1,3}(\d{1,7})[\"']")


@dataclass(slots=True)
class Scan:
    """What was counted; `cells` of one sheet are those of its last row.

    `merged` holds, by first row, the columns (from 0) and last rows of ranges of several rows.
    """

    cells: int = 0
    values: int = 0
    unknown: int = 0
    hidden: bool = False
    merged: dict[int, list[tuple[int, int]]] = field(default_factory=dict)


def scan(package: Package, part: str, total: Scan) -> Scan:
    """Look through a sheet in constant memory and add the counts to `total`.

    Raises `BudgetExceeded` when the workbook has millions of cells, `CorruptDocument`.
    """
    found = Scan()
    rest = b""
    try:
        with package.open(part) as stream:
            while piece := stream.read(PIECE):
                text = rest + piece
                cut = text.rfind(b"</c>") + 4
                cut = cut if cut > 3 else max(text.rfind(b"<"), 0)  # noqa: PLR2004  # nothing found gives 3
                _look(text[:cut], found, total)
                rest = text[cut:] if len(text) - cut < PIECE else b""
            _look(rest, found, total)
    except DAMAGED as error:
        raise CorruptDocument("a sheet of the workbook is damaged") from error
    return found


def _look(text: bytes, found: Scan, total: Scan) -> None:
    cells = len(CELL.findall(text))
    total.cells += cells
    end = text.rfind(ROW_END)
    found.cells = found.cells + cells if end < 0 else len(CELL.findall(text, end))
    if found.cells > MOST_IN_ROW:
        raise BudgetExceeded("a row of the workbook has more cells than a sheet has columns")
    total.values += len(VALUE.findall(text))
    total.unknown += len(UNKNOWN.findall(text))
    total.hidden = total.hidden or HIDDEN.search(text) is not None
    if total.cells > MOST_CELLS or total.values > MOST_VALUES:
        raise BudgetExceeded("the workbook has more cells than this server reads")
    for column, first, last in MERGED.findall(text):
        if int(last) > int(first) and len(found.merged) < MOST_MERGED:
            found.merged.setdefault(int(first), []).append((_column(column), int(last)))


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number - 1

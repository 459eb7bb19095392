"""Rows of OpenDocument tables: repeated cells and rows are written out, as far as there is text in them, under one budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from eunoe_contracts.errors import BudgetExceeded

from eunoe_extractor.backends.open_names import OFFICE, TABLE, count

MOST_CELLS = 2_000_000
MOST_COLUMNS = 16_384
MOST_ROWS = 1_048_576
MOST_REPEATED_CHARS = 20_000_000
LONGEST_REPEATED = 200
PLAIN_VALUES = tuple(f"{OFFICE}{each}" for each in ("value", "string-value", "time-value", "boolean-value"))
MIDNIGHT = "T00:00:00"


class OpenRows:
    """Reads rows, one table after the other; `begin` starts a table. `text` gives the text inside a cell.

    Raises `BudgetExceeded` when the tables of a document have millions of cells or repeat megabytes of text.
    """

    def __init__(self, text: Callable[[Any], str]) -> None:
        self._text = text
        self._cells = self._repeated = 0
        self._hanging: dict[int, tuple[int, str]] = {}

    def begin(self) -> None:
        """Forget the cells of the last table that span rows."""
        self._hanging = {}

    def repeated(self, row: Any) -> Iterator[list[str]]:
        """A row as often as it is repeated; a row without text once, as a gap."""
        cells = self._row(row)
        times = count(row.get(f"{TABLE}number-rows-repeated"), MOST_ROWS) if cells else 1
        self._spend(cells, times)
        for _ in range(times):
            yield list(cells)

    def _row(self, row: Any) -> list[str]:
        cells: list[str] = []
        gap = column = 0
        own = False
        for cell in row:
            is_covered = cell.tag == f"{TABLE}covered-table-cell"
            if not is_covered and cell.tag != f"{TABLE}table-cell":
                continue
            times = count(cell.get(f"{TABLE}number-columns-repeated"), MOST_COLUMNS)
            text = self._value(cell)
            own = own or bool(text)
            if not is_covered:
                self._hang(cell, column, text)
            column += times
            if not text and is_covered:
                text = self._above(column - times)
            if not text:
                gap += times
                continue
            if len(cells) + gap + times > MOST_COLUMNS:
                raise BudgetExceeded("a table of the document is wider than this server reads")
            cells += [""] * gap + [text] * times
            self._repeated += len(text) * (times - 1)
            gap = 0
        return cells if own else []

    def _spend(self, cells: list[str], times: int) -> None:
        self._cells += len(cells) * times
        self._repeated += sum(map(len, cells)) * (times - 1)
        if self._cells > MOST_CELLS or self._repeated > MOST_REPEATED_CHARS:
            raise BudgetExceeded("the tables of the document have more cells than this server reads")

    def _hang(self, cell: Any, column: int, text: str) -> None:
        rows = count(cell.get(f"{TABLE}number-rows-spanned"), MOST_ROWS)
        if rows > 1 and 0 < len(text) <= LONGEST_REPEATED:
            self._hanging[column] = (rows - 1, text)

    def _above(self, column: int) -> str:
        """The text of a cell above that reaches into this row."""
        left, text = self._hanging.pop(column, (0, ""))
        if left > 1:
            self._hanging[column] = (left - 1, text)
        return text

    def _value(self, cell: Any) -> str:
        """Dates in ISO 8601; all else as it is shown, or the stored value when nothing is shown."""
        shown = self._text(cell)
        if not cell.attrib:
            return shown
        date = cell.get(f"{OFFICE}date-value")
        if date:
            return str(date).removesuffix(MIDNIGHT)
        return shown or str(next((value for name in PLAIN_VALUES if (value := cell.get(name))), ""))

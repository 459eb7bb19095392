"""Which of the first rows of a delimited file is its header, and what stands above it."""

from __future__ import annotations

import re
from collections.abc import Sequence

Row = Sequence[str]
LONGEST_NAME = 200
MOST_ABOVE = 20
YEAR = re.compile(r"(?:19|20)\d\d")
VALUE = re.compile(
    r"[-+(]?[$€£¥]?\s?\d[\d\s.,'\u00a0\u202f]*(?:e[-+]?\d+)?\s?[%€$£¥)]?"  # numbers and amounts
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(?::\d{2})?"  # dates and times
    r"|[^\s@]{1,64}@[^\s@]{1,190}|https?://\S+|true|false|yes|no|null|n/?a",
    re.IGNORECASE,
)
LONGEST_VALUE = 260


def split_header(rows: Sequence[Row]) -> tuple[list[Row], list[str], int]:
    """Rows above the table, the header, and how many of `rows` these are. Names are made up ("Column 1") when there is no header.

    A row above the table is a title or remark: it has one cell while the rows after it have several.
    """
    width = max((_filled(row) for row in rows), default=0)
    above = 0
    while width > 1 and above < min(MOST_ABOVE, len(rows) - 1) and _filled(rows[above]) < 2:  # noqa: PLR2004
        above += 1
    if above == MOST_ABOVE:
        above = 0
    titles, table = list(rows[:above]), rows[above:]
    if not table:
        return titles, [], above
    if _is_header(table[0], [row for row in table[1:] if any(row)]):
        return titles, list(table[0]), above + 1
    return titles, [f"Column {number}" for number in range(1, max(map(len, table)) + 1)], above


def _filled(row: Row) -> int:
    return sum(1 for cell in row if cell.strip())


def _is_header(row: Row, below: Sequence[Row]) -> bool:
    """Names are distinct, short and no values; where nothing speaks against it, the first row is the header."""
    names = [cell.strip() for cell in row if cell.strip()]
    if not names or any(len(each) > LONGEST_NAME or "\n" in each for each in names):
        return False
    values = [each for each in names if _is_value(each)]
    if values:
        years = [each for each in values if YEAR.fullmatch(each)]
        return len(names) > len(values) == len(years) == len(set(years)) and len(names) > 1 and not _is_value(row[0].strip())
    if any(_is_value(cell) for each in below for cell in each):
        return True
    columns = list(zip(*below, strict=False))
    again = sum(1 for name, column in zip(row, columns, strict=False) if name.strip() and name in column)
    return again == 0 and len(set(names)) == len(names)


def _is_value(cell: str) -> bool:
    cell = cell.strip()
    return 0 < len(cell) <= LONGEST_VALUE and VALUE.fullmatch(cell) is not None

"""Tables of reStructuredText: simple ones, grids, and lists that stand for rows. Columns are counted as wide as they look."""

from __future__ import annotations

import re
import unicodedata

from eunoe_contracts.errors import BudgetExceeded

from eunoe_extractor.backends.rst_inline import plain

GRID = re.compile(r"\+(?:[-=]+\+)+\s*$")
SIMPLE = re.compile(r"={2,}(?: +={2,})+\s*$")
SPAN = re.compile(r"-{2,}(?: +-{2,})*\s*$")
GRID_LINE = re.compile(r"[+|]")
ITEM_ROW, ITEM_CELL = re.compile(r"[*+-] +[*+-](?: |$)"), re.compile(r" +[*+-](?: |$)")
FILL = "\ue002"
MOST_CELLS = 200
MOST_EMPTY, SPARE_CELLS = 4, 1_000_000

Rows = list[list[str]]


def grid_table(lines: list[str], at: int) -> tuple[Rows, int]:
    """The rows of a grid that starts at `at`, and where it ends. A cell over several rows stands in the first of them."""
    end = at
    while end < len(lines) and GRID_LINE.match(lines[end]):
        end += 1
    wide = [_widened(line) for line in lines[at:end]]
    most = max(wide, key=lambda line: str(line).count("+"))
    borders = [position for position, character in enumerate(most) if character == "+"]
    _check(len(borders), wide)
    rows: Rows = []
    cells: list[list[str]] = []
    for line in wide:
        if line.startswith("+"):
            rows.append([_text(each) for each in cells])
            cells = []
        else:
            _add_line(cells, _grid_cells(line, borders))
    rows.append([_text(each) for each in cells])
    return [row for row in rows if any(row)], end


def simple_table(lines: list[str], at: int) -> tuple[Rows, int]:
    """The rows of a simple table that starts at `at`, and where it ends: at the last border before an empty line, else at the end."""
    starts = [match.start() for match in re.finditer("=+", lines[at])][:MOST_CELLS]
    rows: Rows = []
    cells: list[list[str]] = []
    end = at + 1
    borders = 1
    while end < len(lines):
        line = lines[end]
        end += 1
        if SIMPLE.match(line):
            borders += 1
            if end >= len(lines) or not lines[end].strip():
                break
        if SIMPLE.match(line) or SPAN.match(line) or not line.strip():
            rows.append([_text(each) for each in cells])
            cells = []
            continue
        wide = _widened(line)
        parts = _simple_cells(wide, starts)
        if parts[0].strip() and cells:
            rows.append([_text(each) for each in cells])
            cells = []
        _add_line(cells, parts)
    rows.append([_text(each) for each in cells])
    return [row for row in rows if any(row)], end


def list_table(lines: list[str]) -> Rows:
    """The rows of a `list-table`: a list of lists."""
    rows: list[list[list[str]]] = []
    for line in lines:
        if match := ITEM_ROW.match(line):
            rows.append([[line[match.end() :]]])
        elif rows and (match := ITEM_CELL.match(line)):
            rows[-1].append([line[match.end() :]])
        elif rows:
            rows[-1][-1].append(line)
        elif line.strip():
            rows.append([[line]])
    return [[_text(cell) for cell in row] for row in rows]


def _grid_cells(line: str, borders: list[int]) -> list[str]:
    """The cells of a line: between its bars where they are as many as columns, else by place; a cell over columns is in the first."""
    parts = line.rstrip().strip("|").split("|")
    if len(parts) == len(borders) - 1:
        return [_narrowed(each) for each in parts]
    cells = [""] * max(1, len(borders) - 1)
    start = 1
    column = 0
    for index, border in enumerate(borders[1:]):
        if line[border : border + 1] in {"|", "+", ""} or index == len(borders) - 2:
            cells[column] = _narrowed(line[start:border])
            start, column = border + 1, index + 1
    if len(borders) > 1:
        cells[-1] += _narrowed(line[borders[-1] + 1 :]).rstrip("| ")
    return cells


def _check(columns: int, lines: list[str]) -> None:
    if columns * len(lines) > MOST_EMPTY * sum(map(len, lines)) + SPARE_CELLS:
        raise BudgetExceeded("a table of the document has too many columns for its text")


def _simple_cells(line: str, starts: list[int]) -> list[str]:
    """The cells of a line. Text that stands in the gap before a column goes over both and is in the first."""
    cells = [""] * len(starts)
    at = column = 0
    for index, start in enumerate(starts[1:], 1):
        if line[start - 1 : start] in {" ", ""}:
            cells[column] = _narrowed(line[at:start])
            at, column = start, index
    cells[column] = _narrowed(line[at:])
    return cells


def _add_line(cells: list[list[str]], parts: list[str]) -> None:
    while len(cells) < len(parts):
        cells.append([])
    for cell, part in zip(cells, parts, strict=False):
        if part.strip():
            cell.append(part)


def _text(lines: list[str]) -> str:
    return plain(" ".join(line.strip(" |+") if set(line.strip()) <= set("+-=| ") else line.strip() for line in lines).strip())


def _widened(line: str) -> str:
    """A filler after each character that takes two columns."""
    if line.isascii():
        return line
    return "".join(each + FILL if unicodedata.east_asian_width(each) in "WF" else each for each in line)


def _narrowed(line: str) -> str:
    return line.replace(FILL, "")

"""XLSX: openpyxl streams the rows with their cached values; all else (sheets, comments, merged cells, drawings) comes from the XML."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import openpyxl
from eunoe_contracts.errors import BudgetExceeded, CorruptDocument

from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.package import Package
from eunoe_extractor.backends.part_blocks import PartBlocks
from eunoe_extractor.backends.sheet_rows import SheetRows
from eunoe_extractor.backends.xlsx_cells import cell_text
from eunoe_extractor.backends.xlsx_parts import Sheet, add_comments, add_drawings, sheets_of
from eunoe_extractor.backends.xlsx_scan import Scan, scan
from eunoe_extractor.parsed import ParsedDocument

FORMAT = "xlsx"
MOST_PADDED = 20_000_000
LAST_ROW = 1_048_576
LONGEST_REPEATED = 200


def parse(path: Path, *, name: str, options: ParseOptions) -> ParsedDocument:
    """Read all sheets, hidden ones too: a heading each, tables with the stored values of formulas, text boxes and charts, comments.

    Raises `EmptyFile`, `EncryptedDocument`, `CorruptDocument`, `BudgetExceeded` (millions of cells).
    """
    del name
    with Package(path) as package:
        properties = package.properties()
        sheets = sheets_of(package)
        total = Scan()
        scans = {each.part: scan(package, each.part, total) for each in sheets if each.is_grid}
        blocks = PartBlocks(options.max_blocks)
        with warnings.catch_warnings(action="ignore"), path.open("rb") as file, closing(_opened(file)) as workbook:
            for sheet in sheets:
                blocks.begin(sheet.name)
                if sheet.is_grid:
                    _add_rows(blocks, workbook, sheet, scans[sheet.part])
                add_drawings(blocks, package, sheet)
                add_comments(blocks, package, sheet)
    return ParsedDocument(FORMAT, properties.pop("title", ""), tuple(blocks.blocks), _warnings(sheets, total), properties)


def _opened(file: Any) -> Any:
    try:
        return openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
    except MemoryError:
        raise
    except Exception as error:  # whatever its many readers of parts raise
        raise CorruptDocument("the workbook is damaged") from error


def _add_rows(blocks: PartBlocks, workbook: Any, sheet: Sheet, scanned: Scan) -> None:
    rows = SheetRows(blocks)
    for cells in _merged(_values(workbook, sheet.name), scanned.merged):
        rows.row(cells)
    rows.finish()


def _values(workbook: Any, name: str) -> Iterator[list[str]]:
    """The rows as texts. The size that the sheet declares is not believed: it may be a billion cells."""
    try:
        sheet = workbook[name]
        sheet.reset_dimensions()
        rows = sheet.iter_rows(values_only=True)
    except (KeyError, AttributeError) as error:
        raise CorruptDocument("a sheet of the workbook is damaged") from error
    padded = count = 0
    while True:
        try:
            row = next(rows, None)
        except MemoryError:
            raise
        except Exception as error:
            raise CorruptDocument("a sheet of the workbook is damaged") from error
        if row is None:
            return
        padded += len(row)
        count += 1
        if padded > MOST_PADDED or count > LAST_ROW:
            raise BudgetExceeded("the cells of a sheet lie too far apart")
        yield [cell_text(value) for value in row] if any(value is not None for value in row) else []


def _merged(rows: Iterator[list[str]], merged: dict[int, list[tuple[int, int]]]) -> Iterator[list[str]]:
    """The rows with the text of a cell that spans several of them in each, as a reader sees it."""
    open_cells: dict[int, tuple[int, str]] = {}
    for number, cells in enumerate(rows, start=1):
        open_cells = {column: (last, text) for column, (last, text) in open_cells.items() if last >= number}
        if cells or open_cells:
            _fill(cells, open_cells)
        for column, last in merged.get(number, ()):
            text = cells[column] if column < len(cells) else ""
            if text and len(text) <= LONGEST_REPEATED:
                open_cells[column] = (last, text)
        yield cells


def _fill(cells: list[str], open_cells: dict[int, tuple[int, str]]) -> None:
    """Only rows with a text of their own are filled."""
    if not any(cells):
        return
    for column, (_, text) in open_cells.items():
        cells.extend([""] * (column + 1 - len(cells)))
        cells[column] = cells[column] or text


def _warnings(sheets: list[Sheet], total: Scan) -> tuple[str, ...]:
    found = []
    hidden = sum(1 for each in sheets if each.hidden)
    if hidden:
        found.append(f"hidden sheets were read too; there are {hidden}")
    if total.hidden:
        found.append("the workbook has hidden rows or columns, which were read too")
    if total.unknown:
        found.append(f"formulas without a stored result were left out; there are {total.unknown}")
    return tuple(found)

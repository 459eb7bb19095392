"""CSV and TSV: every row, in tables of some hundred rows that each repeat the header."""

from __future__ import annotations

import csv
from collections.abc import Generator, Iterator
from itertools import chain, islice
from pathlib import Path

from eunoe_contracts.errors import CorruptDocument, EmptyFile
from eunoe_safety.charset import decode

from eunoe_extractor.backends.blocks import CONTROLS
from eunoe_extractor.backends.data_blocks import DataBlocks
from eunoe_extractor.backends.delimited_dialect import MOST_FIELD_CHARS, Dialect, detect
from eunoe_extractor.backends.delimited_header import split_header
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import BlockKind, ParsedDocument

FORMATS = ("csv", "tsv")
HEAD_ROWS = 100
MOST_CELLS = 2000
CELLS_IN_TEXT = 500
END = "\ue010"
RETRIES = 3


def parse(path: Path, *, name: str, options: ParseOptions) -> ParsedDocument:
    """Read all rows. Delimiter, quotes and header are found by the content. A row of more than 2,000 cells is read as plain text.

    Raises `EmptyFile`, `BudgetExceeded`.
    """
    data = path.read_bytes()
    if not data:
        raise EmptyFile
    found = decode(data)
    del data
    text = CONTROLS.sub("", found.text).replace("\r\n", "\n").replace("\r", "\n").lstrip("\n")
    reader = _Rows(text, detect(text, name))
    blocks = DataBlocks(options.max_blocks)
    before = csv.field_size_limit(MOST_FIELD_CHARS)
    try:
        _add(blocks, reader)
    finally:
        csv.field_size_limit(before)
    warnings = [each for each in (found.warning, reader.warning) if each]
    if reader.wide:
        warnings.append(f"rows with more than {MOST_CELLS} cells were read as plain text; there are {reader.wide}")
    kind = "tsv" if reader.delimiter == "\t" else "csv"
    return ParsedDocument(kind, "", tuple(blocks.blocks), tuple(warnings), {"charset": found.codec})


def _add(blocks: DataBlocks, reader: _Rows) -> None:
    rows = (row for row in reader if any(cell.strip() for cell in row))
    head = list(islice(rows, HEAD_ROWS))
    titles, header, used = split_header([row for row in head if len(row) <= MOST_CELLS])
    for row in titles:
        blocks.add(BlockKind.PARAGRAPH, " ".join(cell.strip() for cell in row if cell.strip()))
    narrow = _narrow(blocks, reader, chain(head, rows))
    for _ in range(used):
        next(narrow, None)
    if header:
        blocks.long_table(header, narrow)
    for _ in narrow:
        pass


def _narrow(blocks: DataBlocks, reader: _Rows, rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """The rows that fit into a table; the others are added as text."""
    for row in rows:
        if len(row) <= MOST_CELLS:
            yield row
            continue
        reader.wide += 1
        for at in range(0, len(row), CELLS_IN_TEXT):
            part = (" ".join(cell.split()) for cell in row[at : at + CELLS_IN_TEXT])
            blocks.add(BlockKind.PARAGRAPH, " | ".join(cell for cell in part if cell))


class _Rows:
    """Iterates over the rows. A quote that is never closed is taken for a character of its line."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.warning = ""
        self.wide = 0
        self._text = text
        self._dialect = dialect
        self._at = dialect.start
        self._ended = False

    @property
    def delimiter(self) -> str:
        return self._dialect.delimiter

    def __iter__(self) -> Iterator[list[str]]:
        for attempt in range(RETRIES + 1):
            start = yield from self._run(quoting=attempt < RETRIES)
            if start is None:
                return
            self.warning = "a quoted field never ends; it was read as it stands"
            end = self._text.find("\n", start)
            self._at = len(self._text) if end < 0 else end + 1
            yield from csv.reader([self._text[start : self._at]], **self._dialect.options(quoting=False))

    def _run(self, *, quoting: bool) -> Generator[list[str], None, int | None]:
        """Yield rows; returns where the row starts whose quotes are still open at the end of the text, None when all is read."""
        self._ended = False
        rows = csv.reader(self._lines(), **self._dialect.options(quoting=quoting))
        while True:
            start = self._at
            try:
                row = next(rows)
            except csv.Error as error:
                raise CorruptDocument("the file cannot be read as rows of cells") from error
            if self._ended:
                return None if row == [END] else start
            yield row

    def _lines(self) -> Iterator[str]:
        """The lines that are left, then a mark: where it does not come out as a row of its own, a quote was open."""
        while self._at < len(self._text):
            end = self._text.find("\n", self._at)
            end = len(self._text) if end < 0 else end
            line = self._text[self._at : end]
            self._at = end + 1
            yield f"{line}\n"
        self._ended = True
        yield END

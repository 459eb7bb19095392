"""PDF: text by pdfium page by page, tables where lines are drawn, headings from the document's outline."""

from __future__ import annotations

import contextlib
import ctypes
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium
from eunoe_contracts.errors import BudgetExceeded, CorruptDocument, EmptyFile, EncryptedDocument

from eunoe_extractor.backends.blocks import BlockList, clean
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.pdf_lines import BROKEN_SHARE, broken_share, join_paragraphs, numbered_level, page_lines
from eunoe_extractor.backends.pdf_tables import TableFinder, fill, may_have_tables
from eunoe_extractor.parsed import BlockKind, ParsedDocument

PAGES_PER_OPENING = 50
"""pdfium keeps what it read of a page for as long as the document is open; reopening bounds that."""
OUTLINE_ENTRIES = 2_000
PLACE = re.compile("\ue001(\\d{1,4})\ue002")
NO_TITLE = re.compile(
    r"untitled|\(?anonymous\)?$|\(?unspecified\)?$|microsoft \w+ - |\S+\.(docx?|pdf|tex|dvi|indd|qxd|rtf|pptx?)$", re.IGNORECASE
)


@dataclass(slots=True)
class _Reading:
    """What is known while the pages go by. `outline` has (title, level) by page index."""

    options: ParseOptions
    outline: dict[int, list[tuple[str, int]]]
    blocks: BlockList = field(default_factory=BlockList)
    warnings: list[str] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)
    table_s: float = 0.0


def parse(path: Path, *, name: str, options: ParseOptions) -> ParsedDocument:
    """Read a PDF. Pages that cannot be read, have no text or only broken glyphs are named in warnings.

    Raises `EmptyFile`, `EncryptedDocument` (a password is needed to open it), `CorruptDocument`, `BudgetExceeded` (too many pages).
    """
    del name
    if path.stat().st_size == 0:
        raise EmptyFile
    with _opened(path) as document:
        count = len(document)
        title, metadata = _about(document)
        reading = _Reading(options, _outline(document))
    if count > options.max_pages:
        raise BudgetExceeded(f"the document has {count} pages; at most {options.max_pages} are read")
    with TableFinder(path) as finder:
        for start in range(0, count, PAGES_PER_OPENING):
            with _opened(path) as document:
                for index in range(start, min(start + PAGES_PER_OPENING, count)):
                    _read_page(document, index, finder, reading)
    if count and len(reading.failed) == count:
        raise CorruptDocument("no page of the document can be read")
    _warn(reading)
    return ParsedDocument("pdf", title, tuple(reading.blocks.blocks), tuple(reading.warnings), {"pages": str(count), **metadata})


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == pdfium.FPDF_ERR_PASSWORD:
            raise EncryptedDocument from error
        raise CorruptDocument from error
    try:
        yield document
    finally:
        document.close()


def _about(document: Any) -> tuple[str, dict[str, str]]:
    fields = {key: clean(value).strip() for key, value in document.get_metadata_dict().items() if value}
    title = " ".join(fields.get("Title", "").split())
    author = fields.get("Author", "")[:300]
    metadata = {"author": author} if author and not NO_TITLE.match(author) else {}
    created = re.match(r"D:(\d{4})(\d\d)(\d\d)", fields.get("CreationDate", ""))
    if created:
        metadata["created"] = "-".join(created.groups())
    return ("" if NO_TITLE.match(title) else title), metadata


def _outline(document: Any) -> dict[int, list[tuple[str, int]]]:
    """Titles of the bookmarks by page; a broken outline is no reason to fail."""
    found: dict[int, list[tuple[str, int]]] = {}
    with contextlib.suppress(pypdfium2.PdfiumError, ValueError, RecursionError):
        for number, mark in enumerate(document.get_toc()):
            if number >= OUTLINE_ENTRIES:
                break
            target = mark.get_dest()
            index = None if target is None else target.get_index()
            if index is not None:
                found.setdefault(index, []).append((" ".join(clean(mark.get_title()).split()), min(6, mark.level + 1)))
    return found


def _read_page(document: Any, index: int, finder: TableFinder, reading: _Reading) -> None:
    """One page; the raw calls spare the objects that pypdfium2 makes for each page."""
    page = pdfium.FPDF_LoadPage(document, index)
    text_page = pdfium.FPDFText_LoadPage(page) if page else None
    try:
        if not text_page:
            reading.failed.append(index + 1)
            return
        raw = _raw_text(text_page)
        tables: list[list[list[str]]] = []
        if raw.strip() and may_have_tables(page):
            raw, tables = _tables(page, text_page, raw, index, finder, reading)
        if not raw.strip():
            reading.empty.append(index + 1)
        elif broken_share(raw) > BROKEN_SHARE and not tables:
            reading.broken.append(index + 1)
        _add_page(raw, tables, index, reading)
    finally:
        if text_page:
            pdfium.FPDFText_ClosePage(text_page)
        if page:
            pdfium.FPDF_ClosePage(page)


def _raw_text(text_page: Any) -> str:
    count = pdfium.FPDFText_CountChars(text_page)
    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * (2 * count + 2))()  # a character may take two units
    written = pdfium.FPDFText_GetText(text_page, 0, count, buffer)
    return bytes(memoryview(buffer).cast("B")[: max(0, written - 1) * 2]).decode("utf-16-le", "replace")


def _tables(page: Any, text_page: Any, raw: str, index: int, finder: TableFinder, reading: _Reading) -> tuple[str, list[list[list[str]]]]:
    """The page's text with places for its tables. Whatever pdfplumber stumbles over costs the table, not the text."""
    if reading.table_s > reading.options.table_s:
        return raw, []
    started = time.monotonic()
    try:
        grids = finder.grids(index)
        return fill(page, text_page, grids) if grids else (raw, [])
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  # a second library's trouble with a page that the first one has read
        reading.warnings.append(f"page {index + 1}: tables were read as plain text ({type(error).__name__})")
        return raw, []
    finally:
        reading.table_s += time.monotonic() - started
        if reading.table_s > reading.options.table_s:
            reading.warnings.append(f"tables after page {index + 1} were read as plain text, since looking for them took too long")


def _add_page(raw: str, tables: list[list[list[str]]], index: int, reading: _Reading) -> None:
    page = index + 1
    pieces = PLACE.split(raw) if tables else [raw]
    headings = reading.outline.get(index, [])
    for number, piece in enumerate(pieces):
        if number % 2:
            if int(piece) < len(tables):
                reading.blocks.table([[" ".join(page_lines(cell)) for cell in row] for row in tables[int(piece)]], page=page)
        else:
            _add_lines(page_lines(piece), headings, page, reading.blocks)


def _add_lines(lines: list[str], headings: list[tuple[str, int]], page: int, blocks: BlockList) -> None:
    """Paragraphs, cut at lines that the outline or their own number shows to be headings."""
    levels = {_key(title): level for title, level in headings}
    start = 0
    for at, line in enumerate(lines):
        level = levels.pop(_key(line), None) if levels and line else None
        level = numbered_level(line) if level is None else level
        if level is not None:
            _add_paragraphs(lines[start:at], page, blocks)
            blocks.heading(line, level, page=page)
            start = at + 1
    _add_paragraphs(lines[start:], page, blocks)


def _add_paragraphs(lines: list[str], page: int, blocks: BlockList) -> None:
    for paragraph in join_paragraphs(lines):
        blocks.add(BlockKind.PARAGRAPH, paragraph, page=page)


def _key(title: str) -> str:
    return "".join(each for each in title.casefold() if each.isalnum())


def _warn(reading: _Reading) -> None:
    for pages, what in (
        (reading.failed, "could not be read"),
        (reading.empty, "without text; scans are not read yet"),
        (reading.broken, "with mostly unreadable characters (a font without a character map)"),
    ):
        if pages:
            reading.warnings.append(f"{'page' if len(pages) == 1 else 'pages'} {_ranges(pages)} {what}")


def _ranges(pages: list[int]) -> str:
    """`1-3, 7`; long lists are cut."""
    runs: list[list[int]] = []
    for each in pages:
        if runs and runs[-1][-1] == each - 1:
            runs[-1][1:] = [each]
        else:
            runs.append([each])
    shown = ["-".join(map(str, run)) for run in runs[:20]]
    return ", ".join(shown) + (" and more" if len(runs) > len(shown) else "")

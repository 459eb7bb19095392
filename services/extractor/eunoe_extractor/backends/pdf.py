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

from eunoe_extractor.backends.blocks import clean
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.pdf_blocks import Heading, PageBlocks
from eunoe_extractor.backends.pdf_cells import Grid
from eunoe_extractor.backends.pdf_lines import BROKEN_SHARE, broken_share
from eunoe_extractor.backends.pdf_rules import TooMuchDrawn
from eunoe_extractor.backends.pdf_tables import find
from eunoe_extractor.parsed import ParsedDocument

PAGES_PER_OPENING = 50
"""pdfium keeps what it read of a page for as long as the document is open; reopening bounds that."""
OUTLINE_ENTRIES = 2_000
NO_TITLE = re.compile(
    r"untitled|\(?anonymous\)?$|\(?unspecified\)?$|microsoft \w+ - |\S+\.(docx?|pdf|tex|dvi|indd|qxd|rtf|pptx?)$", re.IGNORECASE
)


@dataclass(slots=True)
class _Reading:
    """What is known while the pages go by. `outline` has (title, level) by page index."""

    options: ParseOptions
    outline: dict[int, list[Heading]]
    pages: PageBlocks = field(default_factory=PageBlocks)
    warnings: list[str] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)
    crowded: list[int] = field(default_factory=list)
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
    for start in range(0, count, PAGES_PER_OPENING):
        with _opened(path) as document:
            for index in range(start, min(start + PAGES_PER_OPENING, count)):
                _read_page(document, index, reading)
    if count and len(reading.failed) == count:
        raise CorruptDocument("no page of the document can be read")
    _warn(reading)
    return ParsedDocument("pdf", title, tuple(reading.pages.blocks), tuple(reading.warnings), {"pages": str(count), **metadata})


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


def _outline(document: Any) -> dict[int, list[Heading]]:
    """Titles of the bookmarks by page; a broken outline is no reason to fail."""
    found: dict[int, list[Heading]] = {}
    with contextlib.suppress(pypdfium2.PdfiumError, ValueError, RecursionError):
        for number, mark in enumerate(document.get_toc()):
            if number >= OUTLINE_ENTRIES:
                break
            target = mark.get_dest()
            index = None if target is None else target.get_index()
            if index is not None:
                found.setdefault(index, []).append((" ".join(clean(mark.get_title()).split()), min(6, mark.level + 1)))
    return found


def _read_page(document: Any, index: int, reading: _Reading) -> None:
    """One page; the raw calls spare the objects that pypdfium2 makes for each page."""
    page = pdfium.FPDF_LoadPage(document, index)
    text_page = pdfium.FPDFText_LoadPage(page) if page else None
    try:
        if not text_page:
            reading.failed.append(index + 1)
            return
        raw = _raw_text(text_page)
        tables: list[Grid] = []
        if raw.strip():
            raw, tables = _tables(page, text_page, raw, index, reading)
        if not raw.strip():
            reading.empty.append(index + 1)
        elif broken_share(raw) > BROKEN_SHARE and not tables:
            reading.broken.append(index + 1)
        reading.pages.add(raw, tables, page=index + 1, headings=reading.outline.get(index, ()))
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


def _tables(page: Any, text_page: Any, raw: str, index: int, reading: _Reading) -> tuple[str, list[Grid]]:
    """The page's text with places for its tables."""
    if reading.table_s > reading.options.table_s:
        return raw, []
    started = time.monotonic()
    try:
        return find(page, text_page, raw)
    except TooMuchDrawn:
        reading.crowded.append(index + 1)
        return raw, []
    finally:
        reading.table_s += time.monotonic() - started
        if reading.table_s > reading.options.table_s:
            reading.warnings.append(f"tables after page {index + 1} were read as plain text, since looking for them took too long")


def _warn(reading: _Reading) -> None:
    for pages, what in (
        (reading.failed, "could not be read"),
        (reading.empty, "without text; scans are not read yet"),
        (reading.broken, "with mostly unreadable characters (a font without a character map)"),
        (reading.crowded, "with too many lines to look for tables, which were read as plain text"),
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

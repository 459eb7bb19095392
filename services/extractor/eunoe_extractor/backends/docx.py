"""DOCX: mammoth makes HTML of it (tables, lists, footnotes, comments, text boxes), which the HTML backend reads."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError

import mammoth
from eunoe_contracts.errors import CorruptDocument, EmptyFile
from eunoe_safety.archive_budget import check_zip
from eunoe_safety.sniffer import OLE, sniff_ole
from lxml import etree

from eunoe_extractor.backends.blocks import clean
from eunoe_extractor.backends.html import html_blocks
from eunoe_extractor.backends.markdown import first_heading
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import BlockKind, ParsedDocument

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
PROPERTIES = {
    "title": "{http://purl.org/dc/elements/1.1/}title",
    "author": "{http://purl.org/dc/elements/1.1/}creator",
    "created": "{http://purl.org/dc/terms/}created",
    "modified": "{http://purl.org/dc/terms/}modified",
}
STYLES = "comment-reference => sup\np[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"
BACK_LINK = re.compile('<a href="#[^"]*">\u2191</a>')
MAIN_PART = "word/document.xml"


def parse(path: Path, *, name: str, options: ParseOptions) -> ParsedDocument:
    """Read a DOCX file. Headers and footers stand at the end, each text once; comments and footnotes too.

    Raises `EmptyFile`, `EncryptedDocument`, `CorruptDocument`, `BudgetExceeded`.
    """
    del name, options
    _check_container(path)
    names = check_zip(path)
    if MAIN_PART not in names:
        raise CorruptDocument("the file is no Word document: its main part is missing")
    with zipfile.ZipFile(path) as archive:
        properties = _properties(archive) if "docProps/core.xml" in names else {}
        margins = [text for each in names if _is_margin(each) for text in _texts(archive.read(each))]
        hidden = b"<w:vanish" in archive.read(MAIN_PART)
    blocks, _, _ = html_blocks(clean(_html(path)))
    for text in dict.fromkeys(margins):
        blocks.add(BlockKind.PARAGRAPH, text)
    title = properties.pop("title", "") or first_heading(blocks)
    warnings = ("the document has hidden text, which was read too",) if hidden else ()
    return ParsedDocument("docx", title, tuple(blocks.blocks), warnings, properties)


def _check_container(path: Path) -> None:
    if path.stat().st_size == 0:
        raise EmptyFile
    with path.open("rb") as file:
        if not file.read(len(OLE)).startswith(OLE):
            return
    sniff_ole(path)
    raise CorruptDocument("the file is an old Office document, not DOCX")


def _html(path: Path) -> str:
    try:
        with path.open("rb") as file:
            done = mammoth.convert_to_html(file, style_map=STYLES, convert_image=_no_image, external_file_access=False)
    except (KeyError, ValueError, IndexError, AttributeError, TypeError, OSError, zipfile.BadZipFile, ExpatError) as error:
        raise CorruptDocument("the Word document is damaged") from error
    html: str = done.value
    return f"<html><body>{BACK_LINK.sub('', html)}</body></html>"


def _no_image(_image: Any) -> list[Any]:
    """Pictures would come as base64 text."""
    return []


def _parser() -> etree.XMLParser:
    return etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False)


def _properties(archive: zipfile.ZipFile) -> dict[str, str]:
    try:
        tree = etree.fromstring(archive.read("docProps/core.xml"), _parser())
    except etree.XMLSyntaxError:
        return {}
    found = {name: clean(tree.findtext(tag) or "").strip()[:300] for name, tag in PROPERTIES.items()}
    return {name: value for name, value in found.items() if value}


def _is_margin(name: str) -> bool:
    return name.startswith(("word/header", "word/footer")) and name.endswith(".xml")


def _texts(xml: bytes) -> list[str]:
    """Paragraphs of a header or footer; the numbers of page fields are not worth keeping alone."""
    try:
        tree = etree.fromstring(xml, _parser())
    except etree.XMLSyntaxError:
        return []
    texts = ["".join(each.text or "" for each in paragraph.iter(f"{WORD}t")) for paragraph in tree.iter(f"{WORD}p")]
    return [clean(text).strip() for text in texts if text.strip() and not text.strip().isdecimal()]

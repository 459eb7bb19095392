"""EPUB: the chapters in reading order, each read as a page of HTML."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from eunoe_contracts.errors import BudgetExceeded, CorruptDocument, EncryptedDocument
from eunoe_safety.charset import decode

from eunoe_extractor.backends.blocks import clean
from eunoe_extractor.backends.epub_titles import chapter_titles
from eunoe_extractor.backends.html import html_blocks
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.package import Package, local, resolve
from eunoe_extractor.backends.part_blocks import PartBlocks
from eunoe_extractor.parsed import Block, BlockKind, ParsedDocument

FORMAT = "epub"
CONTAINER, ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
TEXT_TYPES = ("xhtml", "html", "dtbook", "oeb1-document", "xml")
NO_TEXT = ("svg", "image/", "css", "ncx")
MOST_BYTES = 64 * 1024 * 1024
SELF_CLOSED = re.compile(r"<([A-Za-z][\w:.-]{0,40})((?:\s[^<>]{0,2000})?)/>")
VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"})
META = {"title": "title", "creator": "author", "language": "language"}


def parse(path: Path, *, name: str, options: ParseOptions) -> ParsedDocument:
    """Read all chapters. A chapter that begins without a heading of its own gets its title from the table of contents, if it is there.

    Raises `EmptyFile`, `EncryptedDocument` (DRM), `CorruptDocument`, `BudgetExceeded`.
    """
    del name
    with Package(path) as package:
        root = _root(package)
        book = package.tree(root)
        chapters, missing = _chapters(package, root, book)
        _check_encryption(package, chapters)
        if not chapters and missing:
            raise CorruptDocument("the chapters of the book are missing")
        metadata = _metadata(book)
        title = metadata.pop("title", "")
        blocks = PartBlocks(options.max_blocks)
        titles = chapter_titles(package, root, book)
        size = 0
        for chapter in chapters:
            data = package.read(chapter)
            size += len(data)
            if size > MOST_BYTES:
                raise BudgetExceeded("the book has more text than this server reads")
            _add(blocks, data, titles.get(chapter, ""), title)
    warnings = (f"parts of the book are missing or lie outside of it; there are {missing}",) if missing else ()
    return ParsedDocument(FORMAT, title, tuple(blocks.blocks), warnings, metadata)


def _root(package: Package) -> str:
    """The member with the list of all parts."""
    tree = package.tree(CONTAINER)
    for each in tree.iter():
        found = resolve("", each.get("full-path") or "") if local(each) == "rootfile" else None
        if found is not None and found in package.names:
            return found
    raise CorruptDocument("the book has no list of its parts")


def _chapters(package: Package, root: str, book: Any) -> tuple[list[str], int]:
    """The members with text in reading order, each once, and how many are named but not there."""
    items = {each.get("id"): each for each in book.iter() if local(each) == "item"}
    found: dict[str, None] = {}
    missing = 0
    for each in (reference for reference in book.iter() if local(reference) == "itemref"):
        item = items.get(each.get("idref"))
        kind = "" if item is None else (item.get("media-type") or "").lower()
        if any(part in kind for part in NO_TEXT) or (kind and not any(part in kind for part in TEXT_TYPES)):
            continue
        target = None if item is None else resolve(root, item.get("href") or "")
        if target is not None and target in package.names:
            found[target] = None
        else:
            missing += 1
    return list(found), missing


def _check_encryption(package: Package, chapters: list[str]) -> None:
    """Fonts are often disguised, which is no protection of the text."""
    tree = package.optional(ENCRYPTION)
    if tree is None:
        if ENCRYPTION in package.names:
            raise EncryptedDocument
        return
    covered = {resolve("", each.get("URI") or "") for each in tree.iter() if local(each) == "CipherReference"}
    if covered & set(chapters):
        raise EncryptedDocument


def _metadata(book: Any) -> dict[str, str]:
    """The first title and language, and all authors."""
    found: dict[str, str] = {}
    for each in book.iter():
        field = META.get(local(each), "")
        text = " ".join(clean(each.text or "").split())[:300] if field else ""
        if text and field == "author" and "author" in found:
            found[field] = f"{found[field]}, {text}"[:300]
        elif text:
            found.setdefault(field, text)
    return found


def _add(blocks: PartBlocks, data: bytes, title: str, book_title: str) -> None:
    text = clean(decode(data, markup=True).text)
    read, page_title, _ = html_blocks(SELF_CLOSED.sub(_opened, text))
    if not read.blocks:
        return
    if read.blocks[0].kind is not BlockKind.HEADING:
        own = title or (page_title if page_title != book_title else "")
        blocks.begin(own)
    for block in read.blocks:
        _copy(blocks, block)


def _opened(match: re.Match[str]) -> str:
    """`<a id="x"/>` as HTML means it: there only some elements end at once, others would swallow the rest of the page."""
    return match[0] if match[1].lower() in VOID else f"<{match[1]}{match[2]}></{match[1]}>"


def _copy(blocks: PartBlocks, block: Block) -> None:
    if block.kind is BlockKind.HEADING:
        blocks.heading(block.text, block.level)
    elif block.kind is BlockKind.TABLE:
        blocks.long_table(block.header, iter(block.rows))
    else:
        blocks.add(block.kind, block.text, language=block.language)

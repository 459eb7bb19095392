"""HTML: html2text makes Markdown of it, except for data tables, which are taken out before and put back as tables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import html2text
import lxml.html
from eunoe_contracts.errors import CorruptDocument
from lxml import etree

from eunoe_extractor.backends.blocks import BlockList
from eunoe_extractor.backends.html_tables import LISTING_MARK, TABLE_MARK, take_out_listings, take_out_tables
from eunoe_extractor.backends.markdown import add_markdown, first_heading
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.text import read_text
from eunoe_extractor.parsed import Block, BlockKind, ParsedDocument

UNSEEN = ("script", "style", "noscript", "template", "svg", "iframe", "object", "canvas")
ESCAPED = re.compile(r"\\([-+.()\[\]\\`*_#{}!>|])")
PLACE = re.compile("([\ue001\ue003]\\d{1,7})\ue002")
DEEPEST = {"ul": 12, "ol": 12, "dl": 12, "blockquote": 6}


class _Writer(html2text.HTML2Text):
    """html2text with a ceiling on nesting: thousands of nested lists would make megabytes of indentation."""

    def __init__(self) -> None:
        super().__init__(bodywidth=0)
        self.ignore_images = True
        self.ignore_links = True
        self.ignore_emphasis = True
        self.unicode_snob = True
        self.single_line_break = False
        self._depth = dict.fromkeys(DEEPEST, 0)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag in DEEPEST:
            self._depth[tag] += 1
            if self._depth[tag] > DEEPEST[tag]:
                return
        super().handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in DEEPEST and self._depth[tag] > 0:
            self._depth[tag] -= 1
            if self._depth[tag] >= DEEPEST[tag]:
                return
        super().handle_endtag(tag)


def parse(path: Path, *, name: str, options: ParseOptions) -> ParsedDocument:
    """Read a page. The title is `<title>`, else the first `<h1>`. Raises `EmptyFile`, and `CorruptDocument` when no tree comes out."""
    del name, options
    found = read_text(path, markup=True)
    blocks, title, language = html_blocks(found.text)
    metadata = {"charset": found.codec} | ({"language": language} if language else {})
    h1 = next((each.text for each in blocks.blocks if each.kind is BlockKind.HEADING and each.level == 1), "")
    warnings = (found.warning,) if found.warning else ()
    return ParsedDocument("html", title or h1 or first_heading(blocks), tuple(blocks.blocks), warnings, metadata)


def html_blocks(text: str) -> tuple[BlockList, str, str]:
    """The blocks of a page, its title and its declared language."""
    tables: list[list[list[str]]] = []
    listings: list[tuple[str, str]] = []
    title = language = ""
    tree = _tree(text)
    if tree is not None:
        language = (tree.get("lang") or tree.get("xml:lang") or "")[:20]
        title = " ".join((tree.findtext(".//title") or "").split())
        for each in list(tree.iter(*UNSEEN)):
            each.drop_tree()
        tables = take_out_tables(tree)
        listings = take_out_listings(tree)
        text = lxml.html.tostring(tree, encoding="unicode")
    markdown = _Writer().handle(text)
    read = BlockList()
    add_markdown(read, markdown.split("\n"), indented_code=False)
    return _put_back(read.blocks, tables, listings), title, language


def _tree(text: str) -> Any:
    """The tree, or None when the page is nested too deep for the parser, which would cut it off there. A page without any
    element gives an empty tree.
    """
    parser = lxml.html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        tree = lxml.html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except etree.ParserError:  # nothing but white space and comments
        return lxml.html.Element("html")
    except etree.LxmlError as error:
        raise CorruptDocument("the page cannot be read as HTML") from error
    too_deep = any("depth" in (each.message or "") for each in parser.error_log)
    return None if too_deep else tree


def _put_back(blocks: list[Block], tables: list[list[list[str]]], listings: list[tuple[str, str]]) -> BlockList:
    """The same blocks with tables and listings in their places, and without the escapes that html2text adds."""
    result = BlockList()
    for block in blocks:
        for index, piece in enumerate(PLACE.split(block.text)):
            if index % 2:
                number = int(piece[1:])
                if piece[0] == TABLE_MARK and number < len(tables):
                    result.table(tables[number])
                elif piece[0] == LISTING_MARK and number < len(listings):
                    result.add(BlockKind.CODE, listings[number][0], language=listings[number][1])
                continue
            text = ESCAPED.sub(r"\1", piece)
            if block.kind is BlockKind.HEADING:
                result.heading(text, block.level)
            elif block.kind is BlockKind.TABLE:
                result.table([block.header, *block.rows])
            else:
                result.add(block.kind, text.strip("\n"), language=block.language)
    return result

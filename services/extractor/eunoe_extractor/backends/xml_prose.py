"""XML that holds prose (DocBook, JATS, TEI, DITA ...): paragraphs, sections, lists, tables and listings by the names of elements."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from eunoe_extractor.backends.data_blocks import DataBlocks
from eunoe_extractor.parsed import BlockKind

PARAGRAPHS = frozenset({"p", "para", "simpara", "formalpara"})
SECTIONS = frozenset({"sec", "section", "chapter", "sect1", "sect2", "sect3"})
TITLES = frozenset({"title", "article-title", "head", "heading"})
TITLE_HOLDERS = frozenset({"title-group"})
CAPTIONED = frozenset({"caption", "fig", "figure", "table-wrap", "informaltable", "legend"})
LISTS = frozenset({"list", "ul", "ol", "itemizedlist", "orderedlist", "simplelist"})
TABLES = frozenset({"table", "tgroup", "informaltable"})
ROWS, CELLS = ("tr", "row", "table-row"), frozenset({"td", "th", "entry", "cell", "table-cell"})
LISTINGS = frozenset({"programlisting", "preformat", "pre", "codeblock", "screen", "literallayout"})
BLOCKS = PARAGRAPHS | SECTIONS | LISTS | TABLES | LISTINGS
JOINED = frozenset({"p", "r", "span", "t", "hi", "w"})  # parts of these are pieces of words
READ_ATTRIBUTES = ("title", "name", "label", "alt", "summary", "description", "value")
SHORT = 600


def local(element: Any) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def is_prose(root: Any) -> bool:
    """Whether the tree has paragraphs with text."""
    return any(local(each) in PARAGRAPHS and (is_mixed(each) or text_of(each)) for each in root.iter())


def is_mixed(element: Any) -> bool:
    """Whether text stands between the children of an element."""
    return len(element) > 0 and bool((element.text or "").strip() or any((each.tail or "").strip() for each in element))


def text_of(element: Any) -> str:
    """All text inside, in one line."""
    return " ".join("".join(_pieces(element)).split())


def _pieces(element: Any) -> Iterator[str]:
    between = " " if local(element) not in JOINED and not is_mixed(element) else ""
    yield element.text or ""
    for each in element:
        yield between
        yield from _pieces(each)
        yield between + (each.tail or "")


class Prose:
    """Adds a tree to `blocks` in reading order."""

    def __init__(self, blocks: DataBlocks, root: Any) -> None:
        self._blocks = blocks
        self._around: set[Any] = set()  # elements with blocks inside
        for each in root.iter():
            if local(each) in BLOCKS | TITLE_HOLDERS:
                above = each.getparent()
                while above is not None and above not in self._around:
                    self._around.add(above)
                    above = above.getparent()
        self._walk(root, 1)

    def _walk(self, element: Any, level: int) -> None:
        name = local(element)
        self._attributes(element)
        if name in LISTINGS:
            self._blocks.add(BlockKind.CODE, "".join(element.itertext()).strip("\n"), language=element.get("language") or "")
        elif name in TABLES and (rows := _rows(element)):
            self._blocks.long_table(rows[0], rows[1:])
        elif name in LISTS:
            lines = (text_of(each) for each in element)
            self._blocks.lines(BlockKind.LIST, (f"- {each}" for each in lines if each), most=100)
        elif is_mixed(element):
            self._mixed(element, level)
        elif len(element) == 0 or (element not in self._around and self._is_short(element)):
            self._blocks.add(BlockKind.PARAGRAPH, text_of(element))
        else:
            self._container(element, level)

    def _attributes(self, element: Any) -> None:
        if element.attrib:
            values = (element.get(each) or "" for each in READ_ATTRIBUTES)
            self._blocks.add(BlockKind.PARAGRAPH, "\n".join(each for each in values if each.strip()))

    def _is_short(self, element: Any) -> bool:
        """Whether what has no blocks inside is one paragraph: always when it is one by name, else when it is short."""
        name = local(element)
        if name in PARAGRAPHS or name in TITLE_HOLDERS:
            return name in PARAGRAPHS
        parts = islice(element.iter(), SHORT)
        return sum(len((each.text or "").strip()) + len((each.tail or "").strip()) + 1 for each in parts) < SHORT

    def _mixed(self, element: Any, level: int) -> None:
        """Text with elements: one paragraph, ended by each block inside."""
        parts = [element.text or ""]
        for each in element:
            if local(each) in BLOCKS or each in self._around:
                self._blocks.add(BlockKind.PARAGRAPH, " ".join("".join(parts).split()))
                self._walk(each, level)
                parts = []
            else:
                parts += _pieces(each)
            parts.append(each.tail or "")
        self._blocks.add(BlockKind.PARAGRAPH, " ".join("".join(parts).split()))

    def _container(self, element: Any, level: int) -> None:
        title = None if local(element) in CAPTIONED else next((each for each in element if local(each) in TITLES), None)
        if title is not None and title not in self._around and text_of(title):
            self._blocks.section(text_of(title), level)
        else:
            title = None
        for each in element:
            if each is not title:
                self._walk(each, level + (title is not None))
        if title is not None:
            self._blocks.close(level)


def _rows(table: Any) -> list[list[str]]:
    """Rows with cells; none when the table only places things, or holds another one."""
    if any(local(each) in {"table", "informaltable"} for each in table.iterdescendants()):
        return []
    rows = [[text_of(cell) for cell in each if local(cell) in CELLS] for each in table.iter() if local(each) in ROWS]
    return [row for row in rows if row]

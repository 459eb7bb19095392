"""XML: prose as paragraphs and sections, records as tables, everything else as "name: value" lines."""

from __future__ import annotations

import re
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from eunoe_contracts.errors import BudgetExceeded, CorruptDocument
from lxml import etree

from eunoe_extractor.backends.data_blocks import DataBlocks
from eunoe_extractor.backends.data_records import Pairs
from eunoe_extractor.backends.data_tree import add_value
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.text import read_text
from eunoe_extractor.backends.xml_entities import Entities
from eunoe_extractor.backends.xml_prose import Prose, is_mixed, is_prose, local, text_of
from eunoe_extractor.parsed import ParsedDocument

FORMAT = "xml"
DECLARATION = re.compile(r"\s*(?:<\?xml\b[^>]{0,500}\?>)?")
UNREAD = ("{http://www.w3.org/2001/XMLSchema-instance}", "{http://www.w3.org/XML/1998/namespace}")
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
TITLE_WITHIN, TITLE_DEPTH, LONGEST_TITLE = 300, 6, 300
MOST_ATTRIBUTES = 5000
NOT_XML = "the file is not well-formed XML, or it is cut off"


class _UnknownEntity(Exception):
    """A reference without a declaration. Not of the error tree: it never leaves this module."""


def parse(path: Path, *, name: str, options: ParseOptions) -> ParsedDocument:
    """Read the texts and attributes of all elements. Comments, processing instructions and other files are not read.

    Raises `EmptyFile`, `CorruptDocument` (not well formed, cut off, entities that unfold without end), `BudgetExceeded` (too deep).
    """
    del name
    found = read_text(path, markup=True)
    codec, warnings = found.codec, [found.warning] if found.warning else []
    text = found.text[_start(found.text) :]
    del found
    blocks = DataBlocks(options.max_blocks)
    if not text.strip():
        return ParsedDocument(FORMAT, warnings=tuple(warnings), metadata={"charset": codec})
    try:
        root = _tree(text)
    except _UnknownEntity:  # the names of HTML are often used without a declaration
        text = Entities(None).put_in(text)
        root = _known_tree(text)
    entities = Entities(root.getroottree().docinfo.internalDTD)
    if next(root.iter(etree.Entity), None) is not None:
        root = _known_tree(entities.put_in(text))
        etree.strip_elements(root, etree.Entity, with_tail=False)
    if entities.outside:
        warnings.append("parts of the document lie in other files, which were not read")
    del text
    if is_prose(root):
        Prose(blocks, root)
    else:
        add_value(blocks, _value(root), 1)
    language = (root.get(LANGUAGE) or root.get("lang") or "")[:20]
    metadata = {"charset": codec} | ({"language": language} if language else {})
    return ParsedDocument(FORMAT, _title(root), tuple(blocks.blocks), tuple(warnings), metadata)


def _start(text: str) -> int:
    """Where the declaration ends: it names the character set of the bytes, which are decoded already."""
    match = DECLARATION.match(text)
    return match.end() if match else 0


def _tree(text: str) -> Any:
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        huge_tree=False,
        load_dtd=False,
        encoding="utf-8",
        remove_comments=True,
        remove_pis=True,
        strip_cdata=True,
    )
    try:
        return etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        message = str(error.msg)
        if "XML_PARSE_HUGE" in message:
            raise BudgetExceeded("the document is nested too deep or has a text that is too long") from error
        if error.code == etree.ErrorTypes.ERR_UNDECLARED_ENTITY:
            raise _UnknownEntity from error
        raise CorruptDocument(NOT_XML) from error


def _known_tree(text: str) -> Any:
    try:
        return _tree(text)
    except _UnknownEntity as error:
        raise CorruptDocument(NOT_XML) from error


def _value(element: Any) -> Any:
    """An element as data: its text, or its attributes and children in order; neighbours of the same name are a list."""
    if len(element.attrib) > MOST_ATTRIBUTES:  # reading them takes the square of their number
        raise BudgetExceeded("an element of the document has too many attributes")
    pairs = Pairs((local_name(key), value) for key, value in element.attrib.items() if not key.startswith(UNREAD))
    if is_mixed(element):
        text = text_of(element)
    elif len(element) == 0:
        text = (element.text or "").strip()
    else:
        text = ""
        for key, group in groupby(element, local):
            values = [_value(each) for each in group]
            pairs.append((key, values[0] if len(values) == 1 else values))
    if not pairs:
        return text or None
    if text:
        pairs.append(("text", text))
    return pairs


def local_name(name: str) -> str:
    """The name of an attribute without its namespace."""
    return name.rpartition("}")[2]


def _title(root: Any) -> str:
    """The first title in the head of the document: no element on the way to it has others of its name beside it."""
    for each in islice(root.iter(), TITLE_WITHIN):
        if local(each) in {"title", "article-title"} and each is not root:
            way = [each, *islice(each.iterancestors(), TITLE_DEPTH)]
            if way[-1] is root and all(_is_single(step) for step in way[:-1]):
                text = text_of(each)
                return text if len(text) <= LONGEST_TITLE else ""
    return ""


def _is_single(element: Any) -> bool:
    return next(element.itersiblings(element.tag), None) is None and next(element.itersiblings(element.tag, preceding=True), None) is None

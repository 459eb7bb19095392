"""YAML: every key and value as text, comments included. Values stay as they are written; nothing is constructed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from eunoe_contracts.errors import BudgetExceeded

from eunoe_extractor.backends.data_blocks import DataBlocks
from eunoe_extractor.backends.data_records import NOTE, Pairs
from eunoe_extractor.backends.data_tree import add_value, flat_lines
from eunoe_extractor.backends.json_data import title_of
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.text import paragraphs, read_text
from eunoe_extractor.backends.yaml_comments import Comments
from eunoe_extractor.parsed import BlockKind, ParsedDocument

FORMAT = "yaml"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DEEPEST = 400
ALIAS_LEAVES, ALIAS_CHARS = 50, 2000
MOST_ALIASED = 1_000_000
BINARY = "tag:yaml.org,2002:binary"


def parse(path: Path, *, name: str, options: ParseOptions) -> ParsedDocument:
    """Read all documents of the file; with more than one, each has a heading. What does not parse is kept as text with a warning.

    An alias is read as what it stands for when that is short, else as its name. Raises `EmptyFile`, `BudgetExceeded`.
    """
    del name
    found = read_text(path)
    warnings = [found.warning] if found.warning else []
    blocks = DataBlocks(options.max_blocks)
    title = ""
    try:
        documents = [each for each in _documents(found.text) if each not in (None, "", [])]
    except yaml.YAMLError:
        warnings.append("the file is not valid YAML; its text was kept as it is")
        for paragraph in paragraphs(found.text):
            blocks.add(BlockKind.PARAGRAPH, paragraph)
        documents = []
    for number, document in enumerate(documents, 1):
        if len(documents) > 1:
            blocks.section(f"Document {number}", 1)
        add_value(blocks, document, 1 if len(documents) == 1 else 2)
        title = title or (title_of(document) if len(documents) == 1 else "")
    return ParsedDocument(FORMAT, title, tuple(blocks.blocks), tuple(warnings), {"charset": found.codec})


def _documents(text: str) -> Iterator[Any]:
    """The root of each document."""
    tree = _Tree(text)
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.DocumentStartEvent):
            tree.start()
        elif isinstance(event, yaml.DocumentEndEvent):
            yield tree.end(event)
        elif isinstance(event, yaml.StreamEndEvent):
            yield tree.rest()
        elif not isinstance(event, yaml.StreamStartEvent):
            tree.take(event)


class _Node:
    """A mapping or sequence whose end has not come yet, with the size of what it holds."""

    def __init__(self, anchor: str | None, values: list[Any]) -> None:
        self.anchor = anchor
        self.values = values
        self.key: str | None = None
        self.leaves = self.chars = 0


class _Tree:
    """Builds data from events. The parser's own constructor would unfold merge keys without end."""

    def __init__(self, text: str) -> None:
        self._comments = Comments(text)
        self._aliased = 0
        self.start()

    def start(self) -> None:
        self._root = _Node(None, [])
        self._stack = [self._root]
        self._anchors: dict[str, tuple[Any, int, int]] = {}
        self._loose: list[str] = []

    def end(self, event: Any) -> Any:
        """The document, with the comments before its first and after its last value."""
        above = Pairs([(NOTE, "\n".join(self._loose))] if self._loose else [])
        last = self._comments.above(event.end_mark.line)
        below = Pairs([(NOTE, last)] if last else [])
        value = self._root.values[0] if self._root.values else None
        if not above and not below:
            return value
        return Pairs([*above, *(value if isinstance(value, Pairs) else [("", value)]), *below])

    def rest(self) -> Any:
        """Comments that belong to no document."""
        notes = self._comments.above(sys.maxsize)
        return Pairs([(NOTE, notes)]) if notes else None

    def take(self, event: Any) -> None:
        node = self._stack[-1]
        if isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            if event.end_mark.column > event.start_mark.column:  # the bracket of flow style
                self._comments.passed(event)
            self._stack.pop()
            self._put(node.values, node.leaves, node.chars, node.anchor)
            return
        if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if len(self._stack) > DEEPEST:
                raise BudgetExceeded("the data are nested too deep")
            self._stack.append(_Node(event.anchor, Pairs() if isinstance(event, yaml.MappingStartEvent) else []))
            return
        notes = self._comments.passed(event)
        if notes:
            self._note(notes)
        if isinstance(event, yaml.AliasEvent):
            self._put(*self._stands_for(event.anchor))
        else:
            value = event.value if event.tag != BINARY else ""
            self._put(value, 1, len(value), event.anchor)

    def _note(self, notes: str) -> None:
        """A comment belongs to the innermost mapping that has begun, before the pair that is read now. One that stands before
        a list, or in one without mappings, goes above it.
        """
        begun = len(self._stack) - 1
        while begun > 0 and not self._stack[begun].values and self._stack[begun].key is None:
            begun -= 1
        if begun > 0 and not isinstance(self._stack[begun].values, Pairs):
            begun += 1  # the item of a list that starts here
        around = (each.values for each in reversed(self._stack[1 : begun + 1]))
        values = next((each for each in around if isinstance(each, Pairs)), None)
        if values is None:
            self._loose.append(notes)
        else:
            values.append((NOTE, notes))

    def _stands_for(self, anchor: str) -> tuple[Any, int, int]:
        value, leaves, chars = self._anchors.get(anchor, (None, 0, 0))
        self._aliased += leaves + chars
        if anchor not in self._anchors or leaves > ALIAS_LEAVES or chars > ALIAS_CHARS or self._aliased > MOST_ALIASED:
            return f"*{anchor}", 1, len(anchor)
        return value, leaves, chars

    def _put(self, value: Any, leaves: int, chars: int, anchor: str | None = None) -> None:
        """A finished value goes into what is around it: as item, as key, or as value of the last key."""
        if anchor:
            self._anchors[anchor] = (value, leaves, chars)
        node = self._stack[-1]
        node.leaves += leaves + 1
        node.chars += chars
        if not isinstance(node.values, Pairs):
            node.values.append(value)
        elif node.key is None:
            node.key = value if isinstance(value, str) else _key(value)
        else:
            node.values.append((node.key, _null(value)))
            node.key = None


def _key(value: Any) -> str:
    """A key that is no text, in one line."""
    plain = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return ", ".join(value if plain else flat_lines(value))


def _null(value: Any) -> Any:
    return None if value in ("~", "null") else value

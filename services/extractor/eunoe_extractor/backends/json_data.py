"""JSON and JSON lines: every key and value as text. Numbers stay as they are written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from eunoe_contracts.errors import BudgetExceeded, CorruptDocument, EmptyFile
from eunoe_safety.charset import Decoded, decode

from eunoe_extractor.backends.blocks import clean
from eunoe_extractor.backends.data_blocks import DataBlocks
from eunoe_extractor.backends.data_records import Pairs
from eunoe_extractor.backends.data_tree import add_records, add_value
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import BlockKind, ParsedDocument

FORMATS = ("json", "jsonl")
LINES = (".jsonl", ".ndjson", ".jsonlines", ".ldjson")
SPACE = " \t\r\n\x1e\ufeff"  # 1E is the record mark of RFC 7464
TITLES = ("title", "name", "headline")
LONGEST_TITLE = 200


def parse(path: Path, *, name: str, options: ParseOptions) -> ParsedDocument:
    """Read JSON, or JSON lines when the format or the name says so. A line that is no JSON is kept as text, with a warning.

    Raises `EmptyFile`, `CorruptDocument` when a JSON file is not valid or cut off, `BudgetExceeded`.
    """
    data = path.read_bytes()
    if not data:
        raise EmptyFile
    found = decode(data)  # not cleaned yet: line separators of Unicode may stand inside a string
    del data
    if options.format_id == "jsonl" or (not options.format_id and name.lower().endswith(LINES)):
        return read_lines(found, options)
    try:
        return read_json(found, options)
    except CorruptDocument:
        if not _has_only_lines(found.text):
            raise
        by_line = read_lines(found, options)
        return replace(by_line, format_id="json", warnings=(*by_line.warnings, "the file is not one JSON value but one on each line"))


def read_json(found: Decoded, options: ParseOptions) -> ParsedDocument:
    """One JSON value. White space only is a document without text."""
    text = found.text.strip(SPACE)
    blocks = DataBlocks(options.max_blocks)
    title = ""
    if text:
        try:
            value = _value(text)
        except ValueError as error:
            raise CorruptDocument("the file is not valid JSON, or it is cut off") from error
        del text
        add_value(blocks, value, 1)
        title = title_of(value)
    warnings = (found.warning,) if found.warning else ()
    return ParsedDocument("json", title, tuple(blocks.blocks), warnings, {"charset": found.codec})


def read_lines(found: Decoded, options: ParseOptions) -> ParsedDocument:
    """One JSON value per line. Runs of like records become tables."""
    blocks = DataBlocks(options.max_blocks)
    reader = _Lines(found.text)
    while not reader.done:
        add_records(blocks, reader.values(), 1, name="Record", first=reader.good + 1)
        blocks.lines(BlockKind.PARAGRAPH, reader.other())
    warnings = [found.warning] if found.warning else []
    if reader.bad:
        lines = "1 line is" if reader.bad == 1 else f"{reader.bad} lines are"
        warnings.append(f"{lines} not JSON; the text was kept as it is")
    return ParsedDocument("jsonl", "", tuple(blocks.blocks), tuple(warnings), {"charset": found.codec})


def title_of(value: Any) -> str:
    """What an object calls itself."""
    if not isinstance(value, Pairs):
        return ""
    texts = {key: each for key, each in value if key in TITLES and isinstance(each, str) and len(each) <= LONGEST_TITLE}
    return next((" ".join(clean(texts[key]).split()) for key in TITLES if key in texts), "")


def _has_only_lines(text: str) -> bool:
    """Many exports are named so. One value alone on several lines is a JSON file that is cut off or damaged."""
    count = 0
    for line in _lines(text):
        try:
            _value(line)
        except ValueError:
            return False
        count += 1
    return count > 1


class _Lines:
    """Runs of JSON lines and runs of other lines, in turn; one line is read at a time."""

    def __init__(self, text: str) -> None:
        self.good = self.bad = 0
        self.done = False
        self._lines = _lines(text)
        self._next: tuple[str, Any] = ("", None)
        self._advance()

    def values(self) -> Iterator[Any]:
        while not self.done and not self._next[0]:
            self.good += 1
            yield self._next[1]
            self._advance()

    def other(self) -> Iterator[str]:
        while not self.done and self._next[0]:
            self.bad += 1
            yield clean(self._next[0])
            self._advance()

    def _advance(self) -> None:
        line = next(self._lines, None)
        self.done = line is None
        if line is not None:
            try:
                self._next = ("", _value(line))
            except ValueError:
                self._next = (line, None)


def _lines(text: str) -> Iterator[str]:
    at = 0
    if "\n" not in text:
        text = text.replace("\r", "\n")
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end].strip(SPACE)
        at = end + 1
        if line:
            yield line


def _value(text: str) -> Any:
    """The value; objects keep their order and repeated keys, numbers their digits. Control characters in strings are borne."""
    try:
        return json.loads(text, strict=False, object_pairs_hook=Pairs, parse_int=str, parse_float=str, parse_constant=str)
    except RecursionError as error:
        raise BudgetExceeded("the data are nested too deep") from error

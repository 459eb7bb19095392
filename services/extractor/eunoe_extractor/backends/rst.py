"""reStructuredText: sections, paragraphs, lists, listings, tables, and the text of directives. Nothing is included or run."""

from __future__ import annotations

import re
from pathlib import Path

from eunoe_extractor.backends.data_blocks import DataBlocks
from eunoe_extractor.backends.markdown import first_heading
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.rst_directives import CODE, READ_OPTIONS, TABLES, UNSAID, csv_rows, split_body
from eunoe_extractor.backends.rst_inline import plain
from eunoe_extractor.backends.rst_lines import end_of_run, indented, lines_of, next_text
from eunoe_extractor.backends.rst_tables import GRID, SIMPLE, grid_table, list_table, simple_table
from eunoe_extractor.backends.text import read_text
from eunoe_extractor.parsed import BlockKind, ParsedDocument

FORMAT = "rst"
ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{1,}\s*$")
EXPLICIT = re.compile(r"\.\.(?:\s+|$)")
DIRECTIVE = re.compile(r"\.\.\s+(?:\|([^|\n]{1,200})\|\s+)?([A-Za-z][\w:.+-]{0,60}?)\s?::(?:\s+(.*))?$")
FOOTNOTE = re.compile(r"\.\.\s+(\[[^\]\n]{1,100}\])\s+(.*)$")
TARGET = re.compile(r"(?:\.\.\s+_|__\s)")
ITEM = re.compile(r"(?:[-*+\u2022\u2023\u2043]|\(?(?:[0-9]{1,4}|[A-Za-z]|[ivxlcdmIVXLCDM]{1,8}|#)[.)])(?:\s+\S|$)")
FIELD = re.compile(r":([^:\s][^:\n]{0,60}):(?:\s+(.*)|$)")
LINE = re.compile(r"\|(?: |$)")
DOCTEST = ">>> "
METADATA = {"author": "author", "authors": "author", "date": "created", "language": "language"}
DEEPEST = 8
SHORT_ADORNMENT, LONG_ADORNMENT = 3, 4


def parse(path: Path, *, name: str, options: ParseOptions) -> ParsedDocument:
    """Read the text. Comments and the addresses of links are left out. The title is the first heading. Raises `EmptyFile`."""
    del name
    found = read_text(path)
    blocks = DataBlocks(options.max_blocks)
    reader = _Reader(blocks)
    reader.read(lines_of(found.text))
    warnings = (found.warning,) if found.warning else ()
    metadata = {"charset": found.codec, **reader.metadata}
    return ParsedDocument(FORMAT, first_heading(blocks), tuple(blocks.blocks), warnings, metadata)


class _Reader:
    def __init__(self, blocks: DataBlocks) -> None:
        self.metadata: dict[str, str] = {}
        self._blocks = blocks
        self._styles: list[tuple[str, bool]] = []

    def read(self, lines: list[str], depth: int = 0) -> None:
        """Add the blocks of some lines that start at the margin. What is nested too deep is one paragraph."""
        if depth > DEEPEST:
            self._blocks.add(BlockKind.PARAGRAPH, plain("\n".join(lines)))
            return
        at = 0
        while at < len(lines):
            line = lines[at]
            if not line.strip():
                at += 1
            elif line[0] == " ":
                at = self._quote(lines, at, depth)
            elif (after := self._heading(lines, at, depth)) or (after := self._marked(lines, at, depth)):
                at = after
            else:
                at = self._paragraph(lines, at)

    def _marked(self, lines: list[str], at: int, depth: int) -> int:
        """A block that its first characters tell; returns where it ends, 0 when it is none."""
        line = lines[at]
        if GRID.match(line) or SIMPLE.match(line):
            rows, end = (grid_table if line[0] == "+" else simple_table)(lines, at)
            self._table(rows)
            return end
        if EXPLICIT.match(line) or TARGET.match(line):
            return self._explicit(lines, at, depth)
        if ADORNMENT.match(line) and len(line.strip()) >= LONG_ADORNMENT:
            return at + 1
        if ITEM.match(line) or LINE.match(line) or FIELD.match(line):
            return self._items(lines, at)
        if line.startswith(DOCTEST):
            end = end_of_run(lines, at)
            self._blocks.add(BlockKind.CODE, "\n".join(lines[at:end]), language="python")
            return end
        return 0

    def _heading(self, lines: list[str], at: int, depth: int) -> int:
        """A title with a line under it, or between two lines."""
        above = ADORNMENT.match(lines[at])
        title_at = at + 1 if above else at
        under = ADORNMENT.match(lines[title_at + 1]) if title_at + 1 < len(lines) else None
        title = lines[title_at].strip() if title_at < len(lines) else ""
        if depth or under is None or not title or (above is None and lines[at][0] == " "):
            return 0
        if above is not None and (above[0].strip() != under[0].strip() or ADORNMENT.match(title)):
            return 0
        length = len(under[0].strip())
        if length < min(len(title), SHORT_ADORNMENT) or (above is None and length < LONG_ADORNMENT and length < len(title)):
            return 0
        style = (under[1], above is not None)
        if style not in self._styles:
            self._styles.append(style)
        self._blocks.section(plain(title), self._styles.index(style) + 1)
        return title_at + 2

    def _quote(self, lines: list[str], at: int, depth: int) -> int:
        body, end = indented(lines, at)
        if any(EXPLICIT.match(line) or GRID.match(line) or SIMPLE.match(line) or line.endswith("::") for line in body):
            self.read(body, depth + 1)
        else:
            kind = BlockKind.LIST if ITEM.match(body[0]) else BlockKind.QUOTE
            self._blocks.lines(kind, (plain(line) for line in body), most=200, chars=8000)
        return end

    def _explicit(self, lines: list[str], at: int, depth: int) -> int:
        line = lines[at]
        body, end = indented(lines, at + 1)
        if directive := DIRECTIVE.match(line):
            self._directive(directive[2].lower(), (directive[3] or "").strip(), body, depth)
        elif note := FOOTNOTE.match(line):
            self.read([f"{note[1]} {note[2]}", *body], depth + 1)
        return end  # a comment or the target of a link

    def _directive(self, name: str, first: str, body: list[str], depth: int) -> None:
        name = name.rpartition(":")[2]
        argument, options, content = split_body(first, body, goes_on=name not in UNSAID)
        header = options.pop("header", "")
        said = [argument] if argument and (name not in UNSAID or name in TABLES) else []
        said += [value for key, value in options.items() if key in READ_OPTIONS and value]
        self._blocks.add(BlockKind.PARAGRAPH, plain("\n".join(said)))
        if name == "list-table":
            self._table(list_table(content))
        elif name == "csv-table":
            self._table(csv_rows(header, content, options.get("delim", ",")))
        elif name == "math":
            self._blocks.add(BlockKind.CODE, "\n".join([argument, *content]).strip("\n"), language="latex")
        elif name in CODE:
            self._blocks.add(BlockKind.CODE, "\n".join(content).rstrip(), language=argument.partition(" ")[0][:40])
        else:
            self.read(content, depth + 1)

    def _items(self, lines: list[str], at: int) -> int:
        """A list, with what is indented under its items; or lines, or fields."""
        mark = next(each for each in (ITEM, LINE, FIELD) if each.match(lines[at]))
        end = at + 1
        while end < len(lines):
            if not lines[end].strip():
                following = next_text(lines, end)
                if following == len(lines) or not (lines[following][0] == " " or mark.match(lines[following])):
                    break
                end = following
            elif lines[end][0] == " " or mark.match(lines[end]):
                end += 1
            else:
                break
        if mark is FIELD:
            self._fields(lines[at:end])
        else:
            kind = BlockKind.LIST if mark is ITEM else BlockKind.PARAGRAPH
            kept = (line.rstrip() if mark is ITEM else line[2:].rstrip() for line in lines[at:end] if mark is ITEM or line.strip())
            self._blocks.lines(kind, (plain(line) for line in kept), most=200, chars=8000)
        return end

    def _fields(self, lines: list[str]) -> None:
        at_start = all(each.kind is BlockKind.HEADING for each in self._blocks.blocks[:3])
        for line in lines:
            match = FIELD.match(line)
            if match and match[2] and at_start and match[1].lower() in METADATA:
                self.metadata.setdefault(METADATA[match[1].lower()], match[2].strip()[:300])
        self._blocks.lines(BlockKind.PARAGRAPH, (plain(line.strip().removeprefix(":")) for line in lines if line.strip()))

    def _paragraph(self, lines: list[str], at: int) -> int:
        """Lines up to an empty one; with "::" at the end, what is indented after it is code."""
        end = at + 1
        while end < len(lines) and lines[end].strip() and not GRID.match(lines[end]):
            end += 1
        text = "\n".join(line.rstrip() for line in lines[at:end])
        is_before_code = text.endswith("::")
        if is_before_code:
            text = text[:-2].rstrip() if text[:-2].endswith((" ", "\n")) or text == "::" else text[:-1]
        self._blocks.add(BlockKind.PARAGRAPH, plain(text))
        if is_before_code:
            body, end = indented(lines, end)
            self._blocks.add(BlockKind.CODE, "\n".join(body).strip("\n"))
        return end

    def _table(self, rows: list[list[str]]) -> None:
        if rows:
            self._blocks.long_table(rows[0], rows[1:])

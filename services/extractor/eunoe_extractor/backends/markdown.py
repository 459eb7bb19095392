"""Markdown: a small block parser, enough to know headings, lists, tables, quotes, code and paragraphs (CommonMark block structure)."""

from __future__ import annotations

import re
from pathlib import Path

from eunoe_extractor.backends.blocks import BlockList
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.text import read_text
from eunoe_extractor.parsed import BlockKind, ParsedDocument

ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
CLOSING = re.compile(r"(?:^|[ \t])#+$")
SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^`]*$")
RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+\S|[ \t]*$)")
QUOTE = re.compile(r" {0,3}> ?")
DELIMITER = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
CELL_BORDER = re.compile(r"(?<!\\)\|")
INDENTED = re.compile(r"(?: {4}|\t)")
FRONT_FIELD = re.compile(r"(title|author|date|language|lang)[ \t]*:[ \t]*(.+)", re.IGNORECASE)
FRONT_NAMES = {"date": "created", "lang": "language"}
LONGEST_FRONT_MATTER = 200


def parse(path: Path, *, name: str, options: ParseOptions) -> ParsedDocument:
    """Read a Markdown file. The title is that of the front matter, else the first heading. Raises `EmptyFile`."""
    del name, options
    found = read_text(path)
    blocks = BlockList()
    lines = found.text.split("\n")
    front, lines = _front_matter(lines)
    fields = dict(_front_fields(front))
    blocks.add(BlockKind.CODE, "\n".join(front), language="yaml")
    add_markdown(blocks, lines)
    title = fields.pop("title", "") or first_heading(blocks)
    warnings = (found.warning,) if found.warning else ()
    return ParsedDocument("markdown", title, tuple(blocks.blocks), warnings, {"charset": found.codec, **fields})


def first_heading(blocks: BlockList) -> str:
    """The first heading of the highest level that occurs, if it is the first heading at all; "" without headings."""
    headings = [each for each in blocks.blocks if each.kind is BlockKind.HEADING]
    return headings[0].text if headings and headings[0].level == min(each.level for each in headings) else ""


def _front_matter(lines: list[str]) -> tuple[list[str], list[str]]:
    if lines[0].rstrip() != "---":
        return [], lines
    for index, line in enumerate(lines[1:LONGEST_FRONT_MATTER], start=1):
        if line.rstrip() in {"---", "..."}:
            return lines[1:index], lines[index + 1 :]
    return [], lines


def _front_fields(front: list[str]) -> list[tuple[str, str]]:
    found = [match for line in front if (match := FRONT_FIELD.match(line))]
    return [(FRONT_NAMES.get(match[1].lower(), match[1].lower()), match[2].strip().strip("\"'")) for match in found]


def add_markdown(blocks: BlockList, lines: list[str], *, indented_code: bool = True) -> None:
    """Add the blocks of some Markdown lines. Every line with text lands in exactly one block; rules and empty lines in none.

    Without `indented_code` four spaces mean nothing, as in what html2text writes for nested lists.
    """
    at = 0
    while at < len(lines):
        line = lines[at]
        fence = FENCE.match(line)
        atx = ATX.match(line)
        if not line.strip() or RULE.match(line):
            at += 1
        elif fence:
            at = _fenced(blocks, lines, at, fence)
        elif atx:
            blocks.heading(CLOSING.sub("", line[atx.end() :].strip()), len(atx[1]))
            at += 1
        elif indented_code and INDENTED.match(line):
            at = _indented(blocks, lines, at)
        elif QUOTE.match(line):
            at = _quote(blocks, lines, at)
        elif ITEM.match(line):
            at = _list(blocks, lines, at)
        elif _is_table(lines, at):
            at = _table(blocks, lines, at)
        else:
            at = _paragraph(blocks, lines, at)


def _fenced(blocks: BlockList, lines: list[str], at: int, fence: re.Match[str]) -> int:
    mark = fence[1]
    end = at + 1
    while end < len(lines) and not re.match(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$", lines[end]):
        end += 1
    blocks.add(BlockKind.CODE, "\n".join(lines[at + 1 : end]), language=fence[2])
    return end + 1


def _indented(blocks: BlockList, lines: list[str], at: int) -> int:
    end = at
    while end < len(lines) and (INDENTED.match(lines[end]) or not lines[end].strip()):
        end += 1
    code = [INDENTED.sub("", line, count=1) for line in lines[at:end]]
    blocks.add(BlockKind.CODE, "\n".join(code).rstrip())
    return end


def _quote(blocks: BlockList, lines: list[str], at: int) -> int:
    end = at
    while end < len(lines) and (QUOTE.match(lines[end]) or (end > at and lines[end].strip() and not _starts_block(lines, end))):
        end += 1
    blocks.add(BlockKind.QUOTE, "\n".join(QUOTE.sub("", line, count=1).rstrip() for line in lines[at:end]).strip("\n"))
    return end


def _list(blocks: BlockList, lines: list[str], at: int) -> int:
    """Items, their continuation lines, and what is indented under them after an empty line, fences included."""
    end = at + 1
    while end < len(lines):
        line = lines[end]
        if not line.strip():
            following = next((index for index in range(end, len(lines)) if lines[index].strip()), len(lines))
            goes_on = following < len(lines) and (ITEM.match(lines[following]) or lines[following][0] in " \t")
            if not goes_on or RULE.match(lines[following]):
                break
            end = following
        elif line[0] not in " \t" and not ITEM.match(line) and _starts_block(lines, end):
            break
        end += 1
    blocks.add(BlockKind.LIST, "\n".join(line.rstrip() for line in lines[at:end]))
    return end


def _is_table(lines: list[str], at: int) -> bool:
    return at + 1 < len(lines) and "|" in lines[at] and "-" in lines[at + 1] and DELIMITER.match(lines[at + 1]) is not None


def _table(blocks: BlockList, lines: list[str], at: int) -> int:
    end = at + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    blocks.table([_cells(lines[at]), *(_cells(line) for line in lines[at + 2 : end])])
    return end


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    cells = CELL_BORDER.split(inner)
    if len(cells) > 1 and not cells[-1].strip():
        cells.pop()
    return [cell.strip().replace("\\|", "|") for cell in cells]


def _paragraph(blocks: BlockList, lines: list[str], at: int) -> int:
    end = at + 1
    while end < len(lines) and lines[end].strip():
        underline = SETEXT.match(lines[end])
        if underline:
            blocks.heading(" ".join(lines[at:end]), 1 if underline[1][0] == "=" else 2)
            return end + 1
        if _starts_block(lines, end):
            break
        end += 1
    blocks.add(BlockKind.PARAGRAPH, "\n".join(line.rstrip() for line in lines[at:end]))
    return end


def _starts_block(lines: list[str], at: int) -> bool:
    """Whether a line ends a paragraph before it."""
    line = lines[at]
    starts = (ATX, FENCE, RULE, QUOTE, ITEM)
    return any(each.match(line) for each in starts) or _is_table(lines, at)

"""Source code: cut at functions and classes by their first lines, without a grammar. No line is ever lost."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

from eunoe_extractor.backends.code_languages import DEFINITION, LANGUAGES, SHEBANGS
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.text import read_text
from eunoe_extractor.parsed import Block, BlockKind, ParsedDocument

LONG_UNIT = 60
"""Lines of a class or function above which it is cut again at the definitions inside it."""
LONGEST_FIRST_LINE = 200
"""Characters of a line that are looked at; minified code has lines without end."""
ATTACHED = re.compile(r"\s*(?:#|//|/\*|\*|\*/|--|@|\[\w|template\s*<|\"\"\"|%)")


def parse(path: Path, *, name: str, options: ParseOptions) -> ParsedDocument:
    """Read a source file: one block per top-level definition or run of other lines, with the names as heading path.

    The title is the file name. Raises `EmptyFile`.
    """
    del options
    found = read_text(path)
    lines = found.text.split("\n")
    language = _language(name, lines[0])
    blocks = [
        Block(BlockKind.CODE, text, heading_path=names, language=language)
        for names, part in _units(lines, language)
        if (text := "\n".join(part).strip("\n")).strip()
    ]
    warnings = (found.warning,) if found.warning else ()
    metadata = {"charset": found.codec} | ({"language": language} if language else {})
    return ParsedDocument("code", PurePath(name).name, tuple(blocks), warnings, metadata)


def _language(name: str, first_line: str) -> str:
    extension = name.rpartition(".")[2].lower()
    if extension in LANGUAGES:
        return LANGUAGES[extension]
    return next((language for word, language in SHEBANGS.items() if first_line.startswith("#!") and word in first_line), "")


def _units(lines: list[str], language: str, outer: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], list[str]]]:
    """Runs of lines with the names they stand under. Cuts at the smallest indentation at which something is defined."""
    pattern = DEFINITION.get(language, DEFINITION[""])
    found = [(at, match) for at, line in enumerate(lines) if (match := pattern.match(line[:LONGEST_FIRST_LINE]))]
    if not found:
        return [(outer, lines)]
    depth = min(_indent(lines[at]) for at, _ in found)
    starts = [(_with_comments(lines, at), _name(match)) for at, match in found if _indent(lines[at]) == depth]
    units: list[tuple[tuple[str, ...], list[str]]] = [(outer, lines[: starts[0][0]])]
    ends = [start for start, _ in starts[1:]] + [len(lines)]
    for (start, name), end in zip(starts, ends, strict=True):
        part, names = lines[start:end], (*outer, name)
        if len(part) > LONG_UNIT and not outer:
            head = _first_inside(part, pattern)
            units += [(names, part[:head]), *_units(part[head:], language, names)] if 0 < head < len(part) else [(names, part)]
        else:
            units.append((names, part))
    return units


def _first_inside(part: list[str], pattern: re.Pattern[str]) -> int:
    """The first line of the first definition that is nested in the one `part` begins with."""
    own = next(at for at, line in enumerate(part) if pattern.match(line[:LONGEST_FIRST_LINE]))
    depth = _indent(part[own])
    inside = next((at for at in range(own + 1, len(part)) if pattern.match(part[at][:LONGEST_FIRST_LINE]) and _indent(part[at]) > depth), 0)
    return max(own + 1, _with_comments(part, inside)) if inside else 0


def _with_comments(lines: list[str], at: int) -> int:
    """Where the comments, decorators and attributes right above a definition begin."""
    depth = _indent(lines[at])
    while at > 0 and lines[at - 1].strip() and ATTACHED.match(lines[at - 1]) and _indent(lines[at - 1]) >= depth:
        at -= 1
    return at


def _name(match: re.Match[str]) -> str:
    return next((group for group in match.groups() if group), match[0].strip())[:100]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())

"""Where prose, lists and tables may be cut: offsets at which a new part begins."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

Bounds: TypeAlias = Callable[[str], Sequence[int]]
"""Offsets inside a text (neither 0 nor its end) at which it may be cut, ascending."""

_BLANK = re.compile(r"\n(?:[ \t]*\n)+")
_END = re.compile(r"(?P<plain>[.!?\u2026]+)[\"')\]\u00bb\u201d\u2019*_]*\s+|[\u3002\uff01\uff1f]+[\u300d\u300f\u201d\u2019\uff09]*\s*")
_ITEM = re.compile(r"^[ \t]*(?:[-*+\u2022]|\d{1,4}[.)])[ \t]", re.MULTILINE)
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|e\.g|i\.e|cf|fig|no|vol|pp?|al|inc|ltd|co|approx|dept|est|u\.s|a\.m|p\.m)|\b[A-Z])\.$",
    re.IGNORECASE,
)


def paragraphs(text: str) -> Sequence[int]:
    """After empty lines; the indentation of the next line stays with it."""
    return [match.end() for match in _BLANK.finditer(text) if match.end() < len(text)]


def sentences(text: str) -> Sequence[int]:
    """After the end of a sentence; known abbreviations and a small letter that follows are no ends."""
    found = []
    for match in _END.finditer(text):
        at = match.end()
        if at >= len(text) or (match["plain"] and not _is_end(text, match, at)):
            continue
        found.append(at)
    return found


def _is_end(text: str, match: re.Match[str], at: int) -> bool:
    if match["plain"] != ".":
        return True
    if text[at].islower():
        return False
    return _ABBREVIATION.search(text[max(0, match.start() - 8) : match.start() + 1]) is None


def items(text: str) -> Sequence[int]:
    """Before every list item."""
    return [match.start() for match in _ITEM.finditer(text) if match.start() > 0]


def lines(text: str) -> Sequence[int]:
    """Before every line but the first."""
    return [match.end() for match in re.finditer("\n", text) if match.end() < len(text)]


PROSE: tuple[Bounds, ...] = (paragraphs, sentences, lines)
LIST: tuple[Bounds, ...] = (paragraphs, items, lines, sentences)
ROWS: tuple[Bounds, ...] = (lines,)

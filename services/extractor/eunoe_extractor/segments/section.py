"""Sections of a long document: paragraphs joined up to a number of characters.

The algorithm is `splitIntoSections` of OpenMemory's ingestion page, kept as it is: a paragraph is never split, and the two
characters between paragraphs do not count towards the limit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PARAGRAPH = re.compile(r"\n\n+")


@dataclass(frozen=True, slots=True)
class Section:
    """A section's text and the characters of the whole text it covers."""

    text: str
    start: int
    end: int


def sections(text: str, *, limit: int) -> list[Section]:
    """Sections in order; one that is nothing but white space is left out."""
    found: list[Section] = []
    current, start, end = "", 0, 0
    for first, last in _paragraphs(text):
        paragraph = text[first:last]
        if current and len(current) + len(paragraph) > limit:
            found.append(Section(current.strip(), start, end))
            current, start = paragraph, first
        else:
            start = start if current else first
            current += "\n\n" + paragraph
        end = last
    if current:
        found.append(Section(current.strip(), start, end))
    return [each for each in found if each.text]


def _paragraphs(text: str) -> list[tuple[int, int]]:
    found = []
    start = 0
    for gap in PARAGRAPH.finditer(text):
        found.append((start, gap.start()))
        start = gap.end()
    found.append((start, len(text)))
    return found

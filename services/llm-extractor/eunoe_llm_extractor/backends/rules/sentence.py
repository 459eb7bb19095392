"""Sentences and list items of a passage, as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator

SHORTEST = 8
LONGEST = 400
WRAPPED = 60
"""A line of fewer characters was not broken for its length: the next line is something else."""

_END = re.compile(r"[.!?\u2026]+[\"')\u201d\u2019]*\s+(?=[^\sa-z])|[\u3002\uff01\uff1f]+[\u300d\u300f]*")
_ABBREVIATION = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|No|Fig)|\b[A-Z])\.\s+$")
_LIST = re.compile(r"[\s>|]*(?:#{1,6}\s|[-*+\u2022]\s|\d{1,3}[.)]\s)")
_MARKER = re.compile(r"^[\s>|]*(?:#{1,6}\s+|[-*+\u2022]\s+(?!\[)|\d{1,3}[.)]\s+)?")


def sentences(text: str) -> Iterator[str]:
    """Literal parts of the text, without list markers; too short and too long ones are left out."""
    for block in _blocks(text):
        start = 0
        for end in _END.finditer(block):
            if _ABBREVIATION.search(block[: end.end()]):
                continue
            yield from _clean(block[start : end.end()])
            start = end.end()
        yield from _clean(block[start:])


def _blocks(text: str) -> Iterator[str]:
    current = ""
    for line in text.splitlines(keepends=True):
        last = current.splitlines()[-1] if current else ""
        if not line.strip() or _LIST.match(line) or len(last) < WRAPPED:
            yield current
            current = ""
        current += line
    yield current


def _clean(part: str) -> Iterator[str]:
    sentence = _MARKER.sub("", part, count=1).strip()
    if SHORTEST <= len(sentence) <= LONGEST:
        yield sentence

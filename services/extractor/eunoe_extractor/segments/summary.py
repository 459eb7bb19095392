"""The extractive summary of a long document: its first sentence, and the best sentence of each part of it, in order.

A sentence is good when it holds the words the document uses often, and stands near the beginning of its section
(after H. P. Luhn, The Automatic Creation of Literature Abstracts, 1958, and H. P. Edmundson, 1969).
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from eunoe_extractor.parsed import BlockKind
from eunoe_extractor.segments.bound import sentences
from eunoe_extractor.segments.layout import Layout
from eunoe_extractor.segments.length import Measure
from eunoe_extractor.segments.section import Section

_WORD = re.compile(r"\w{4,}")
_PROSE = frozenset({BlockKind.PARAGRAPH, BlockKind.QUOTE, BlockKind.LIST})
_SHORTEST = 4
_TYPICAL_TOKENS = 28


@dataclass(frozen=True, slots=True)
class _Sentence:
    start: int
    text: str
    score: float


def summary(layout: Layout, parts: Sequence[Section], measure: Measure, *, limit: int) -> str:
    """At most `limit` tokens that cover the whole document; never empty for a document with text."""
    frequency = Counter(_WORD.findall(layout.text.casefold()))
    candidates = _candidates(layout, parts, frequency, measure, limit)
    if not candidates:
        return layout.text[: measure.prefix(layout.text, limit)].strip()
    chosen = {candidates[0].start: candidates[0]}
    groups = max(1, limit // _TYPICAL_TOKENS - 1)
    for group in _groups(candidates, len(layout.text), groups):
        best = max(group, key=lambda each: (each.score, -each.start))
        if measure.length(_joined([*chosen.values(), best])) <= limit:
            chosen[best.start] = best
    return _joined(list(chosen.values()))


def _joined(picked: Sequence[_Sentence]) -> str:
    by_place = {each.start: each.text for each in picked}
    return " ".join(by_place[start] for start in sorted(by_place))


def _candidates(layout: Layout, parts: Sequence[Section], frequency: Counter[str], measure: Measure, limit: int) -> list[_Sentence]:
    section_starts = [part.start for part in parts]
    found = []
    for span in layout.spans:
        if span.block.kind not in _PROSE:
            continue
        text = layout.text[span.start : span.end]
        edges = [0, *sentences(text), len(text)]
        for first, last in itertools.pairwise(edges):
            sentence = " ".join(text[first:last].split())
            words = _WORD.findall(sentence.casefold())
            if len(words) >= _SHORTEST and measure.length(sentence) <= max(limit // 3, _TYPICAL_TOKENS):
                start = span.start + first
                found.append(_Sentence(start, sentence, _score(words, frequency, start, section_starts)))
    return found


def _score(words: Sequence[str], frequency: Counter[str], start: int, section_starts: Sequence[int]) -> float:
    weight = sum(math.log(frequency[word]) for word in set(words)) / (len(words) + _SHORTEST)
    above = max((each for each in section_starts if each <= start), default=0)
    return weight * (1 + 1 / (1 + (start - above) / 200))


def _groups(candidates: Sequence[_Sentence], length: int, count: int) -> list[list[_Sentence]]:
    groups: dict[int, list[_Sentence]] = {}
    for each in candidates:
        groups.setdefault(each.start * count // max(1, length), []).append(each)
    return [groups[key] for key in sorted(groups)]

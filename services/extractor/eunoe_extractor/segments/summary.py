"""The extractive summary of a long document: its first sentence, and the best sentence of each part of it, in order.

A sentence is good when it holds the words the document uses often, and stands near the beginning of its section
(after H. P. Luhn, The Automatic Creation of Literature Abstracts, 1958, and H. P. Edmundson, 1969).
"""

from __future__ import annotations

import itertools
import math
import re
from bisect import bisect_right
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
_FEWEST_WORDS = 4
_DAMPING = 8
"""Keeps a sentence of few frequent words from winning over one that says more."""

_SAID_BEFORE = 0.2
_TYPICAL_TOKENS = 28


@dataclass(frozen=True, slots=True)
class _Sentence:
    start: int
    text: str
    words: frozenset[str]
    place: float


def summary(layout: Layout, parts: Sequence[Section], measure: Measure, *, limit: int) -> str:
    """At most `limit` tokens that cover the whole document; never empty for a document with text."""
    frequency = Counter(_WORD.findall(layout.text.casefold()))
    candidates = _candidates(layout, parts, measure, limit)
    if not candidates:
        return layout.text[: measure.prefix(layout.text, limit)].strip()
    chosen = [candidates[0]]
    said = set(candidates[0].words)
    groups = max(1, limit // _TYPICAL_TOKENS - 1)
    for group in _groups(candidates, len(layout.text), groups):
        best = max(group, key=lambda each: (_score(each, frequency, said), -each.start))
        if best not in chosen and measure.length(_joined([*chosen, best])) <= limit:
            chosen.append(best)
            said |= best.words
    return _joined(chosen)


def _joined(picked: Sequence[_Sentence]) -> str:
    by_place = {each.start: each.text for each in picked}
    return " ".join(by_place[start] for start in sorted(by_place))


def _candidates(layout: Layout, parts: Sequence[Section], measure: Measure, limit: int) -> list[_Sentence]:
    section_starts = [part.start for part in parts]
    longest = max(limit // 3, _TYPICAL_TOKENS)
    found = []
    for span in layout.spans:
        if span.block.kind not in _PROSE:
            continue
        text = layout.text[span.start : span.end]
        edges = [0, *sentences(text), len(text)]
        for first, last in itertools.pairwise(edges):
            sentence = " ".join(text[first:last].split())
            words = frozenset(_WORD.findall(sentence.casefold()))
            if len(words) >= _FEWEST_WORDS and measure.length(sentence) <= longest:
                start = span.start + first
                above = section_starts[max(0, bisect_right(section_starts, start) - 1)] if section_starts else 0
                found.append(_Sentence(start, sentence, words, 1 + 1 / (1 + (start - above) / 200)))
    return found


def _score(sentence: _Sentence, frequency: Counter[str], said: set[str]) -> float:
    # A word that the summary has already counts little, so that a refrain is taken up once.
    weight = sum(math.log(frequency[word]) * (_SAID_BEFORE if word in said else 1) for word in sentence.words)
    return weight * sentence.place / (len(sentence.words) + _DAMPING)


def _groups(candidates: Sequence[_Sentence], length: int, count: int) -> list[list[_Sentence]]:
    groups: dict[int, list[_Sentence]] = {}
    for each in candidates:
        groups.setdefault(each.start * count // max(1, length), []).append(each)
    return [groups[key] for key in sorted(groups)]

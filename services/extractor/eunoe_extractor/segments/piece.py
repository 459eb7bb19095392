"""Pieces: the smallest parts that passages are packed from. A piece fits the limit and is cut only where it has to be."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eunoe_extractor.parsed import BlockKind
from eunoe_extractor.segments.bound import LIST, PROSE, ROWS, Bounds
from eunoe_extractor.segments.definition import CODE
from eunoe_extractor.segments.layout import Layout, Span
from eunoe_extractor.segments.length import MOST_CHARACTERS_PER_TOKEN, Measure

BOUNDS: Mapping[BlockKind, tuple[Bounds, ...]] = {
    BlockKind.HEADING: PROSE,
    BlockKind.PARAGRAPH: PROSE,
    BlockKind.QUOTE: PROSE,
    BlockKind.LIST: LIST,
    BlockKind.TABLE: ROWS,
    BlockKind.CODE: CODE,
}
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-{1,}:?[ \t]*(?:\|[ \t]*:?-{1,}:?[ \t]*)*\|?[ \t]*\Z")


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters `start` to `end` of the extracted text, and how they may be packed.

    `fresh`: a passage ends before it (only headings may stand before it in its passage). `lead`: text of the source to repeat
    where a passage begins with this piece, such as the header of a table.
    """

    start: int
    end: int
    span: Span
    cost: int
    fresh: bool = False
    lead: str = ""

    @property
    def is_heading(self) -> bool:
        """True for a heading."""
        return self.span.block.kind is BlockKind.HEADING


def pieces(layout: Layout, measure: Measure, *, limit: int, marks: Sequence[int] = ()) -> Iterator[Piece]:
    """All pieces in order; they cover every block. A piece begins at each of the `marks` (ascending), with `fresh` set."""
    cutter = _Cutter(layout.text, measure, limit)
    room, speaker, after_cut_code = limit, "", False
    for span in layout.spans:
        block = span.block
        is_fresh = block.kind is BlockKind.HEADING or block.speaker != speaker or after_cut_code
        speaker = block.speaker
        after_cut_code = False
        for part, (start, end) in enumerate(_between(span, marks)):
            cut = cutter.pieces(span, start, end, room=room, fresh=is_fresh or part > 0 or _is_mark(start, marks))
            after_cut_code = block.kind is BlockKind.CODE and len(cut) > 1
            yield from cut
        room = _room_after(span, room if block.kind is BlockKind.HEADING else limit, measure, layout.text)


def _room_after(span: Span, room: int, measure: Measure, text: str) -> int:
    # A paragraph under a heading is cut a little earlier, so that the heading does not become a passage of its own.
    if span.block.kind is not BlockKind.HEADING:
        return room
    left = room - measure.length(text[span.start : span.end])
    return left if left > room // 2 else room


def _is_mark(start: int, marks: Sequence[int]) -> bool:
    at = bisect_right(marks, start)
    return at > 0 and marks[at - 1] == start and start > 0


def _between(span: Span, marks: Sequence[int]) -> list[tuple[int, int]]:
    inside = [mark for mark in marks[bisect_right(marks, span.start) :] if mark < span.end] if marks else []
    edges = [span.start, *inside, span.end]
    return list(itertools.pairwise(edges))


class _Cutter:
    def __init__(self, text: str, measure: Measure, limit: int) -> None:
        self._text = text
        self._measure = measure
        self._limit = limit

    def pieces(self, span: Span, start: int, end: int, *, room: int, fresh: bool) -> list[Piece]:
        kind = span.block.kind
        soft = self._limit if kind in {BlockKind.CODE, BlockKind.TABLE} else room
        if kind is BlockKind.TABLE and self._cost(start, end) > soft:
            return self._rows(span, start, end, fresh=fresh)
        cuts = self._cut(start, end, BOUNDS[kind], soft)
        is_cut_code = kind is BlockKind.CODE and len(cuts) > 1
        return [
            Piece(first, last, span, self._cost(first, last), fresh=(fresh or is_cut_code) and at == 0)
            for at, (first, last) in enumerate(cuts)
        ]

    def _rows(self, span: Span, start: int, end: int, *, fresh: bool) -> list[Piece]:
        head_end = start + _head_length(self._text[start:end])
        lead = self._text[start:head_end]
        lead_cost = self._measure.length(lead) if lead.strip() else 0
        if not lead_cost or lead_cost > self._limit // 2:
            lead, lead_cost, head_end = "", 0, start
        made: list[Piece] = []
        for first, last in self._cut(head_end, end, ROWS, self._limit - lead_cost, hard=self._limit - lead_cost):
            if not made and lead:
                made.append(Piece(start, last, span, self._cost(start, last), fresh=fresh))
            else:
                made.append(Piece(first, last, span, self._cost(first, last), fresh=fresh and not made, lead=lead))
        return made

    def _cost(self, start: int, end: int) -> int:
        return self._measure.length(self._text[start:end])

    def _cut(self, start: int, end: int, bounds: Sequence[Bounds], soft: int, *, hard: int = 0) -> list[tuple[int, int]]:
        cost = self._cost(start, end)
        if cost <= soft:
            return [(start, end)]
        if not bounds:
            hard = hard or self._limit
            return [(start, end)] if cost <= hard else self._cut_words(start, end, hard)
        inside = [start + at for at in bounds[0](self._text[start:end])]
        edges = [start, *inside, end]
        found: list[tuple[int, int]] = []
        for first, last in itertools.pairwise(edges):
            found.extend(self._cut(first, last, bounds[1:], soft, hard=hard))
        return found

    def _cut_words(self, start: int, end: int, hard: int) -> list[tuple[int, int]]:
        found = []
        while start < end:
            reach = min(end, start + (hard + 1) * MOST_CHARACTERS_PER_TOKEN)  # copying the rest each time would be quadratic
            stop = start + self._measure.prefix(self._text[start:reach], hard)
            while stop < end and self._text[stop].isspace():
                stop += 1
            found.append((start, min(stop, end)))
            start = stop
        return found


def _head_length(table: str) -> int:
    # Header and rule of a pipe table; 0 when it has none.
    first = table.find("\n") + 1
    second = table.find("\n", first) + 1
    return second if first and second and _RULE.match(table[first : second - 1]) else 0

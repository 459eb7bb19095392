"""Passages: pieces packed in order into spans that fit the limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eunoe_contracts.content import Location

from eunoe_extractor.segments.length import Measure
from eunoe_extractor.segments.piece import Piece


@dataclass(frozen=True, slots=True)
class Passage:
    """Text of a passage and its place. `text` ends with the characters of its place; before them may stand a repeated header."""

    text: str
    location: Location


def passages(text: str, pieces: Sequence[Piece], measure: Measure, *, limit: int) -> list[Passage]:
    """In order, without a gap inside a block; each fits the limit."""
    found: list[Passage] = []
    at = 0
    while at < len(pieces):
        count = _fitting(text, pieces, at, measure, limit)
        found.append(_passage(text, pieces[at : at + count], _lead(text, pieces[at], measure, limit)))
        at += count
    return found


def _lead(text: str, piece: Piece, measure: Measure, limit: int) -> str:
    fits = piece.lead and measure.length(piece.lead + text[piece.start : piece.end]) <= limit
    return piece.lead if fits else ""


def _fitting(text: str, pieces: Sequence[Piece], first: int, measure: Measure, limit: int) -> int:
    lead = _lead(text, pieces[first], measure, limit)
    total = pieces[first].cost + (measure.length(lead) if lead else 0)
    count = 1
    only_headings = pieces[first].is_heading
    while first + count < len(pieces):
        piece = pieces[first + count]
        total += piece.cost
        if total > limit or (piece.fresh and not only_headings):
            break
        only_headings = only_headings and piece.is_heading
        count += 1
    # The sum of the parts is only nearly the length of the whole; the whole decides.
    start = pieces[first].start
    while count > 1 and measure.length(lead + text[start : pieces[first + count - 1].end]) > limit:
        count -= 1
    while first + count < len(pieces) and pieces[first + count].cost == 0:  # white space never makes a passage
        count += 1
    return count


def _passage(text: str, packed: Sequence[Piece], lead: str) -> Passage:
    start, end = packed[0].start, packed[-1].end
    blocks = [each.span.block for each in packed]
    location = Location(
        page=next((block.page for block in blocks if block.page is not None), None),
        start_s=next((block.start_s for block in blocks if block.start_s is not None), None),
        end_s=next((block.end_s for block in reversed(blocks) if block.end_s is not None), None),
        heading_path=packed[-1].span.path,
        speaker=next((block.speaker for block in blocks if block.speaker), ""),
        char_start=start,
        char_end=end,
    )
    return Passage(lead + text[start:end], location)

"""The contextual text of a passage: header, tail of what stands before, body. It is embedded and is a BM25 field of its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from eunoe_extractor.segments.length import Measure

BETWEEN = " > "
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def spoken_date(moment: datetime) -> str:
    """A date as people write it: `8 May 2023`."""
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


def header(measure: Measure, *, title: str, path: Sequence[str], date: str, speaker: str, limit: int) -> str:
    """Title > heading path > date > speaker. Too long, it loses the outer headings first, then the end of the title."""
    headings = [_line(each) for each in path if _line(each) and _line(each) != _line(title)]
    ends = [_line(each) for each in (date, speaker) if _line(each)]
    name = _line(title)
    while True:
        text = BETWEEN.join([*([name] if name else []), *headings, *ends])
        if measure.length(text) <= limit:
            return text
        if headings:
            headings.pop(0)
        elif name and ends:
            room = limit - measure.length(BETWEEN.join(["", *ends]))
            name = name[: measure.prefix(name, room)].strip() if room > 0 and measure.length(name) > room else ""
        else:
            return text[: measure.prefix(text, limit)].strip()


def contextual(measure: Measure, *, header: str, before: str, body: str, window: int) -> str:
    """Header, as much of the end of `before` as the window leaves, and the whole body, one under the other."""
    body = body.strip()
    room = window - measure.length(header) - measure.length(body)
    tail = measure.suffix(before, room)
    while tail and measure.length(_stacked(header, tail, body)) > window:
        room -= max(1, room // 8)
        tail = measure.suffix(before, room)
    return _stacked(header, tail, body)


def _stacked(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _line(text: str) -> str:
    return " ".join(text.split())

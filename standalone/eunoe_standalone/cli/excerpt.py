"""The part of a hit to show on a screen: the stretch with the most words of the query."""

from __future__ import annotations

import re

WIDTH = 360
SHORT_WORD = 3
WORD = re.compile(r"\w+")


def excerpt(text: str, query: str, width: int = WIDTH) -> str:
    """At most about `width` characters on one line, cut at words, with dots where something was left out."""
    flat = " ".join(text.split())
    if len(flat) <= width:
        return flat
    wanted = {_stem(word) for word in WORD.findall(query.casefold()) if len(word) > SHORT_WORD}
    places = [match.start() for match in WORD.finditer(flat) if _stem(match.group().casefold()) in wanted]
    start = max(places or [0], key=lambda place: (sum(place <= other < place + width for other in places), -place))
    # A sentence reads better from its beginning, if that is near.
    sentence = max(flat.rfind(". ", 0, start) + 2, 0) if ". " in flat[:start] else 0
    start = sentence if start - sentence < width // 2 else start
    end = min(len(flat), start + width)
    if end < len(flat):
        end = flat.rfind(" ", start, end)
    return ("... " if start else "") + flat[start:end] + (" ..." if end < len(flat) else "")


def _stem(word: str) -> str:
    """Good enough to match `keeper` and `keepers`."""
    return word.removesuffix("s")

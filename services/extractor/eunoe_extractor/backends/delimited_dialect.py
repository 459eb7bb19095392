"""How a delimited file is written: its delimiter and quotes, found on a sample."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

SAMPLE_CHARS = 64 * 1024
SAMPLE_ROWS = 200
DELIMITERS = (",", "\t", ";", "|")
TAB_NAMES = (".tsv", ".tab")
STATED = re.compile(r"sep=([^\w\s\"']|\t)[ \t]*(?:\n|$)", re.IGNORECASE)
MOST_FIELD_CHARS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Dialect:
    """What `csv.reader` must know. `start` is where the rows begin: after a line that only states the delimiter."""

    delimiter: str = ","
    quote: str = '"'
    escape: str | None = None
    space_after: bool = False
    start: int = 0

    def options(self, *, quoting: bool = True) -> dict[str, Any]:
        """Arguments of `csv.reader`. Without `quoting` quotes are characters like others."""
        options: dict[str, Any] = {"delimiter": self.delimiter, "skipinitialspace": self.space_after, "strict": False}
        if not quoting:
            return options | {"quoting": csv.QUOTE_NONE}
        return options | {"quotechar": self.quote, "escapechar": self.escape, "doublequote": self.escape is None}


def detect(text: str, name: str) -> Dialect:
    """The dialect of the file: what it states itself, else the delimiter that gives the most even rows."""
    stated = STATED.match(text)
    start = stated.end() if stated else 0
    sample = text[start : start + SAMPLE_CHARS]
    if len(sample) == SAMPLE_CHARS:
        sample = sample[: sample.rfind("\n") + 1] or sample
    quote, escape = _quotes(sample)
    delimiter = stated[1] if stated else _delimiter(sample, name, Dialect(quote=quote, escape=escape))
    space_after = f"{delimiter} {quote}" in sample and f"{delimiter}{quote}" not in sample
    return Dialect(delimiter, quote, escape, space_after, start)


def _quotes(sample: str) -> tuple[str, str | None]:
    """The quote, and a backslash where it takes the place of doubled quotes."""
    if '"' in sample:
        return '"', "\\" if '\\"' in sample and '""' not in sample else None
    quoted = len(re.findall(r"(?:^|[,;\t|])'[^'\n]*'(?=[,;\t|\n]|\Z)", sample, re.MULTILINE))
    return ("'", None) if quoted > 1 and quoted > sample.count("\n") / 2 else ('"', None)


def _delimiter(sample: str, name: str, dialect: Dialect) -> str:
    preferred = "\t" if name.lower().endswith(TAB_NAMES) else ","
    best, top = preferred, (0.0, 0.0)
    for delimiter in sorted(DELIMITERS, key=lambda each: each != preferred):
        score = _score(sample, Dialect(delimiter, dialect.quote, dialect.escape))
        if score > top:
            best, top = delimiter, score
    return best


def _score(sample: str, dialect: Dialect) -> tuple[float, float]:
    """Share of the rows that have the commonest width, in steps so that a ragged row or two do not decide; then that width."""
    rows = csv.reader(sample.split("\n")[:SAMPLE_ROWS], **dialect.options())
    widths = Counter(len(row) for row in rows if row)
    many = Counter({width: count for width, count in widths.items() if width > 1})
    if not many:
        return 0.0, 0.0
    width, count = max(many.items(), key=lambda each: (each[1], each[0]))
    return round(count / widths.total() * 4) / 4, width

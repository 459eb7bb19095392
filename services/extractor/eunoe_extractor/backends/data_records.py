"""Data of JSON, YAML and XML as this server holds it, and which of it are records of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eunoe_extractor.backends.blocks import clean

NOTE = "\ue000"
"""The key of a comment in `Pairs`; it belongs to the pair after it."""
SHORT_LIST, SHORT_CHARS = 20, 300
CELL_CHARS = 500
MOST_COLUMNS = 60
SPARSE = 3
LONGEST_PATH = 120


class Pairs(list[tuple[str, Any]]):
    """An object: keys with values, in order; a key may stand twice. Values are `Pairs`, lists, strings, booleans and None."""


def scalar(value: Any) -> str:
    """A leaf as text; null is empty."""
    if isinstance(value, str):
        return clean(value).strip()
    return "" if value is None else str(value).lower()


def table(values: Sequence[Any], *, least: int = 2) -> tuple[list[str], list[list[str]]] | None:
    """Header and rows of at least `least` like, flat records; None when these are none."""
    if len(values) < least or not all(isinstance(each, Pairs) for each in values[:2]):
        return None
    records = []
    for each in values:
        record = _cells(each)
        if record is None:
            return None
        records.append(record)
    columns = list(dict.fromkeys(key for each in records for key in each))
    if len(columns) > MOST_COLUMNS or len(columns) * len(records) > SPARSE * sum(map(len, records)):
        return None
    return [clean(each) for each in columns], [[each.get(key, "") for key in columns] for each in records]


def _cells(value: Any) -> dict[str, str] | None:
    if not isinstance(value, Pairs) or not 0 < len(value) <= MOST_COLUMNS:
        return None
    cells: dict[str, str] = {}
    for key, each in value:
        if key in cells or key == NOTE or len(key) > LONGEST_PATH or not (is_line(each) or each == []):
            return None
        text = joined(each) if isinstance(each, list) else scalar(each)
        if len(text) > CELL_CHARS or "\n" in text:
            return None
        cells[key] = text
    return cells


def is_line(value: Any) -> bool:
    """Whether a value is a scalar, or a short list of short ones that may stand in one line."""
    if not isinstance(value, list):
        return True
    if isinstance(value, Pairs) or not 0 < len(value) <= SHORT_LIST or any(isinstance(each, list) for each in value):
        return False
    return sum(len(each) if isinstance(each, str) else 5 for each in value) <= SHORT_CHARS


def joined(values: list[Any]) -> str:
    """A short list in one line."""
    return ", ".join(text for each in values if (text := scalar(each)))

"""Values of cells as text."""

from __future__ import annotations

import datetime as dt
from typing import Any

MIDNIGHT = dt.time()
TIMES = (dt.datetime, dt.time, dt.timedelta)


def cell_text(value: Any) -> str:
    """Dates and times as ISO 8601, numbers with the 15 digits that spreadsheets keep, truth values as they show them."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return format(value, ".15g")
    return _time_text(value) if isinstance(value, TIMES) else str(value)


def _time_text(value: dt.datetime | dt.time | dt.timedelta) -> str:
    if isinstance(value, dt.timedelta):
        return _duration(value)
    if isinstance(value, dt.datetime) and value.time() == MIDNIGHT:
        return value.date().isoformat()
    return value.isoformat(timespec="seconds")


def _duration(value: dt.timedelta) -> str:
    seconds = round(value.total_seconds())
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"

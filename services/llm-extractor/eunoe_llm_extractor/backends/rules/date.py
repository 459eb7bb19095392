"""Full dates as people write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?"
    "|Dec(?:ember)?)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
DATE = re.compile(rf"\b(?:\d{{4}}-\d{{2}}-\d{{2}}|{_DAY}\s+(?:of\s+)?{_MONTH}\.?,?\s+\d{{4}}|{_MONTH}\.?\s+{_DAY},?\s+\d{{4}})\b")
_NUMBER = re.compile(r"\d+")
_LETTERS = re.compile(r"[A-Za-z]{3,}")


def date_in(text: str) -> datetime | None:
    """The first full date of the text, at midnight UTC; None when there is none, or it is not in the calendar."""
    found = DATE.search(text)
    if found is None:
        return None
    numbers = [int(each) for each in _NUMBER.findall(found[0])]
    try:
        if len(numbers) == 3:  # noqa: PLR2004 - year, month and day as numbers: ISO 8601
            return datetime(numbers[0], numbers[1], numbers[2], tzinfo=UTC)
        letters = _LETTERS.findall(found[0])[0].lower()
        month = next(at for at, name in enumerate(MONTHS, start=1) if name.startswith(letters[:3]))
        return datetime(numbers[1], month, numbers[0], tzinfo=UTC)
    except ValueError:
        return None

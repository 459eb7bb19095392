"""Whether the text that came out of a parser can be read by anybody."""

from __future__ import annotations

import re
import unicodedata

READABLE_SHARE = 0.7
"""Less than this share of readable characters is garbage: fonts without a character map, a wrong charset, binary data."""
SAMPLE = 200_000
_GLYPH_ID = re.compile(r"\(cid:\d+\)")
_UNREADABLE = frozenset({"Cc", "Cn", "Co", "Cs"})


def is_readable(text: str) -> bool:
    """False when most visible characters are replacement, control, private or unassigned ones. An empty text is readable."""
    sample = _GLYPH_ID.sub("\ufffd", text[:SAMPLE])
    visible = [character for character in sample if not character.isspace()]
    if not visible:
        return True
    good = sum(1 for each in visible if each != "\ufffd" and unicodedata.category(each) not in _UNREADABLE)
    return good >= READABLE_SHARE * len(visible)

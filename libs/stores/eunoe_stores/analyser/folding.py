"""Makes spellings equal before words are cut out: compatibility forms, case, accents, digit groups."""

from __future__ import annotations

import re
import unicodedata

# Accents of Latin, Greek and Cyrillic, points of Hebrew, vowel signs of Arabic: readers leave them out. The vowel signs of
# Indic and Thai scripts are part of the word and stay.
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u00ad\u200b-\u200f\u2060\ufeff]+"
)
_UNDECOMPOSED = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "\u0131": "i", "æ": "ae", "œ": "oe", "þ": "th", "\u2019": "'", "\u02bc": "'"}
)
_DIGIT_GROUPS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")


def fold(text: str) -> str:
    """NFKC (UAX 15), case-folded, without accents; `1,250` becomes `1250`; typographic apostrophes become plain ones."""
    if text.isascii():
        folded = text.lower()
    else:
        folded = unicodedata.normalize("NFKC", text).casefold()
        folded = _ACCENTS.sub("", unicodedata.normalize("NFD", folded))
        # Composed again, so that Hangul syllables and Japanese voiced letters are one character each.
        folded = unicodedata.normalize("NFC", folded).translate(_UNDECOMPOSED)
    if "," in folded:
        folded = _DIGIT_GROUPS.sub(lambda match: match.group().replace(",", ""), folded)
    return folded

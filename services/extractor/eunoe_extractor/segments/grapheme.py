"""Where a text may be cut between characters as people see them (after Unicode UAX 29, the rules that matter for cutting)."""

from __future__ import annotations

import unicodedata

JOINERS = frozenset("\u200c\u200d")
LONGEST = 64
"""A cluster longer than this is taken for noise and may be cut."""


def bound_before(text: str, index: int) -> int:
    """The nearest place at or before `index` that is no inside of a grapheme; 0 when there is none within reach."""
    lowest = max(0, index - LONGEST)
    for at in range(index, lowest, -1):
        if is_bound(text, at):
            return at
    return 0 if lowest == 0 else index


def is_bound(text: str, index: int) -> bool:
    """True when a cut at `index` (between two characters) splits no grapheme."""
    if index <= 0 or index >= len(text):
        return True
    before, after = text[index - 1], text[index]
    if before == "\r" and after == "\n":
        return False
    if _extends(after) or before == "\u200d":
        return False
    if _is_regional(after) and _is_regional(before):
        return _regional_run(text, index) % 2 == 0
    return not _is_hangul_pair(before, after)


def _extends(character: str) -> bool:
    if character in JOINERS or "\U0001f3fb" <= character <= "\U0001f3ff":
        return True
    return unicodedata.category(character) in {"Mn", "Me", "Mc"}


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _regional_run(text: str, index: int) -> int:
    start = index
    while start > 0 and _is_regional(text[start - 1]):
        start -= 1
    return index - start


def _is_hangul_pair(before: str, after: str) -> bool:
    is_vowel = "\u1160" <= after <= "\u11a7"
    is_final = "\u11a8" <= after <= "\u11ff"
    is_lead = "\u1100" <= before <= "\u115f"
    goes_on = is_lead or "\u1160" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
    return (is_lead and "\u1100" <= after <= "\u115f") or (goes_on and (is_vowel or is_final))

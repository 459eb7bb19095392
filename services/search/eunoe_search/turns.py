"""Cheap signs that a turn of a conversation answers a question. Pure functions of the question and of the turn's text.

No model, no language resources but short word lists (English; in other languages the signs are just rarer). All signs are from 0 to 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass

FULL_LENGTH = 60
"""Words from which a turn counts as long."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_NUMBER_QUESTION = re.compile(
    r"\b(?:when|how (?:long|many|much|old|often|soon|far)|(?:what|which) (?:\w+ )?(?:date|day|days|time|month|week|year|age|number))\b",
    re.IGNORECASE,
)
_NAME_QUESTION = re.compile(r"\b(?:who|whom|whose|where|which (?:\w+ )?(?:city|country|place|person))\b", re.IGNORECASE)
_THING_QUESTION = re.compile(r"\b(?:what|which|how|why)\b", re.IGNORECASE)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|once|twice|first|second|third|last|next|ago|since|yesterday|today|tonight"
    r"|tomorrow|recently|week|weekend|weeks|month|months|year|years|day|days|hour|hours|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|january|february|march|april|may|june|july|august|september|october|november|december|summer|winter|spring|autumn|fall)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|we|our|us|myself|i['\u2019](?:m|ve|ll|d)|we['\u2019](?:re|ve|ll|d))\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """What kind of answer a question wants, and its words."""

    words: frozenset[str]
    for_number: bool
    for_thing: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn's text is like. Does not depend on the question."""

    speaker: frozenset[str]
    is_question: bool
    follows_question: bool
    in_first_person: bool
    has_number: bool
    length: float


def read_question(text: str) -> Asked:
    """The kind of a question, by its question words. One for a number or a name is not one for a thing."""
    for_number = bool(_NUMBER_QUESTION.search(text))
    for_thing = not for_number and not _NAME_QUESTION.search(text) and bool(_THING_QUESTION.search(text))
    return Asked(frozenset(_words(text)), for_number, for_thing)


def read_turn(speaker: str, text: str, context: str) -> Turn:
    """A turn from its speaker, its own text, and its contextual text, which ends with the text and holds the turn before it."""
    before = context.removesuffix(text.strip()).rstrip()
    length = min(1.0, math.log1p(len(_words(text))) / math.log1p(FULL_LENGTH))
    return Turn(
        frozenset(_words(speaker)),
        text.rstrip().endswith("?"),
        before.endswith("?"),
        bool(_FIRST_PERSON.search(text)),
        bool(_NUMBER.search(text)),
        length,
    )


def signs(asked: Asked, turn: Turn) -> dict[str, float]:
    """The signs by name."""
    return {
        "speaker_named": float(bool(turn.speaker & asked.words)),
        "is_question": float(turn.is_question),
        "follows_question": float(turn.follows_question),
        "first_person": float(turn.in_first_person),
        "number_wanted": float(asked.for_number and turn.has_number),
        "thing_length": turn.length if asked.for_thing else 0.0,
        "length": turn.length,
    }


def _words(text: str) -> Collection[str]:
    return [each.lower().removesuffix("'s").removesuffix("\u2019s") for each in _WORD.findall(text)]

"""Counting and cutting over token spans: the `TokenCounter` of every tokeniser that splits at white space and inside words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias


class Span(NamedTuple):
    """Characters of one token; equal `word` numbers mark tokens of one word."""

    start: int
    end: int
    word: int


Spans: TypeAlias = Callable[[str], Sequence[Span]]
"""Spans of a text in order. White space belongs to none; tokens of a word must not depend on other words."""

LONG_WORD = 100
"""WordPiece turns a longer run into one unknown token. It is counted by its characters, so that a blob is not "one token"."""
_LONG_RUN = re.compile(rf"[^ \t\n\r]{{{LONG_WORD + 1}}}")
"""Without such a run no word is longer. Only white space that every tokeniser knows ends a run."""

WORD = re.compile(r"[^ \t\n\r]+")
"""A run between white space that every tokeniser knows."""

CHARACTERS_PER_TOKEN = 8
"""First guess of how far to look; English has about 4.5, so one look is usually enough."""
NEAR = 4
"""White space is looked for in the last quarter of the tokens."""
PIECE = 50_000
"""Long texts are tokenised in pieces of about so many characters: tokenisers keep a hundred bytes for each."""


class SpanCounter:
    """Counts and cuts by the spans of a tokeniser. `tokens` counts them without making them, which is several times faster."""

    def __init__(self, spans: Spans, *, window: int, tokens: Callable[[str], int] | None = None) -> None:
        self._raw = spans
        self._window = window
        self._tokens = tokens

    @property
    def window(self) -> int:
        """Most tokens of one text."""
        return self._window

    def count(self, text: str) -> int:
        """Number of tokens; of a word longer than `LONG_WORD`, its characters."""
        return sum(self._count(piece) for piece in _pieces(text))

    def cut(self, text: str, tokens: int) -> int:
        """Length of the longest prefix with at most that many tokens, at white space if there is some near its end."""
        if (end := self._whole_words(text, tokens)) is not None:
            return end
        look = CHARACTERS_PER_TOKEN * (max(tokens, 0) + 1)
        while True:
            spans = self._spans(text[:look])
            whole = look >= len(text)
            # The last word of a partial look may go on behind it, so only the words before it are known.
            if len(spans) > tokens and (whole or spans[tokens].word != spans[-1].word):
                return _end(spans, tokens)
            if whole:
                return len(text)
            look *= 2

    def cut_tail(self, text: str, tokens: int) -> int:
        """Start of the longest suffix with at most that many tokens, at white space if there is some near its start."""
        if (start := self._whole_words_at_end(text, tokens)) is not None:
            return start
        look = CHARACTERS_PER_TOKEN * (max(tokens, 0) + 1)
        while True:
            base = max(0, len(text) - look)
            spans = self._spans(text[base:])
            first = len(spans) - tokens
            # The first word of a partial look may have begun before it, so only the words after it are known.
            if first > 0 and (base == 0 or first == len(spans) or spans[first].word != spans[0].word):
                return self._start(text, base, spans, tokens)
            if base == 0:
                return 0
            look *= 2

    def _whole_words(self, text: str, tokens: int) -> int | None:
        """`cut` by counted words; None where words are too long for that, or unknown."""
        if self._tokens is None or tokens <= 0:
            return None
        used, end = 0, 0
        for word in WORD.finditer(text):
            if word.end() - word.start() > LONG_WORD:
                return None
            used += (count := self._tokens(word.group()))
            if used > tokens:
                return end if used - count >= tokens - tokens // NEAR else None
            end = word.end()
        return len(text)

    def _whole_words_at_end(self, text: str, tokens: int) -> int | None:
        """`cut_tail` by counted words; None where words are too long for that, or unknown."""
        if self._tokens is None or tokens <= 0:
            return None
        look = CHARACTERS_PER_TOKEN * (tokens + 1)
        base = max(0, len(text) - look)
        words = list(WORD.finditer(text, base))
        if base:
            words = words[1:]  # the first may have begun before the look
        used, start = 0, len(text)
        for word in reversed(words):
            if word.end() - word.start() > LONG_WORD:
                return None
            used += (count := self._tokens(word.group()))
            if used > tokens:
                return start if used - count >= tokens - tokens // NEAR else None
            start = word.start()
        return 0 if base == 0 else None

    def _count(self, piece: str) -> int:
        if self._tokens is None or _LONG_RUN.search(piece):
            return len(self._spans(piece))
        return self._tokens(piece)

    def _spans(self, text: str) -> list[Span]:
        spans: list[Span] = []
        for span in self._raw(text):
            if span.end - span.start > LONG_WORD:
                # Negative word numbers: the tokeniser gives none, so each character may be cut off.
                spans.extend(Span(at, at + 1, -at - 1) for at in range(span.start, span.end))
            else:
                spans.append(span)
        return spans

    def _start(self, text: str, base: int, spans: Sequence[Span], tokens: int) -> int:
        first = len(spans) - tokens
        if tokens <= 0:
            return len(text)
        near = range(first, min(len(spans), first + 1 + max(1, tokens // NEAR)))
        gap = next((at for at in near if spans[at - 1].end < spans[at].start), None)
        word = next((at for at in range(first, len(spans)) if spans[at - 1].word != spans[at].word), None)
        at = gap if gap is not None else word if word is not None else first
        # Inside a word the rest may split otherwise than before; give up characters until it fits.
        while at < len(spans) and self.count(text[base + spans[at].start :]) > tokens:
            at += 1
        return base + spans[at].start if at < len(spans) else len(text)


def _end(spans: Sequence[Span], tokens: int) -> int:
    if tokens <= 0:
        return 0
    near = range(tokens - 1, max(-1, tokens - 2 - max(1, tokens // NEAR)), -1)
    gap = next((at for at in near if spans[at].end < spans[at + 1].start), None)
    word = next((at for at in range(tokens - 1, -1, -1) if spans[at].word != spans[at + 1].word), None)
    return spans[gap if gap is not None else word if word is not None else tokens - 1].end


def _pieces(text: str) -> list[str]:
    """The text cut at white space into pieces; without white space, anywhere after twice the length."""
    pieces: list[str] = []
    start = 0
    while len(text) - start > PIECE:
        end = start + PIECE
        while end < min(len(text), start + 2 * PIECE) and not text[end].isspace():
            end += 1
        pieces.append(text[start:end])
        start = end
    return [*pieces, text[start:]]

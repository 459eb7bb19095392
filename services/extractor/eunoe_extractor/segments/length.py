"""How long a text is, in tokens, with and without an embedder."""

from __future__ import annotations

from eunoe_models.embedding.port import TokenCounter

from eunoe_extractor.segments.grapheme import bound_before

CHARACTERS_PER_TOKEN = 4
MOST_CHARACTERS_PER_TOKEN = 16
"""A tokenizer may count an endless run of letters as one unknown token; this keeps such a passage within bounds."""


def document_length(text: str) -> int:
    """Length of a document: ceil(characters / 4), whatever the model."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


class CharacterCounter:
    """`TokenCounter` without a model: ceil(characters / 4), white space at both ends left out."""

    def __init__(self, window: int) -> None:
        self._window = window

    @property
    def window(self) -> int:
        """Most tokens of one contextual text."""
        return self._window

    def count(self, text: str) -> int:
        """Number of tokens."""
        return -(-len(text.strip()) // CHARACTERS_PER_TOKEN)

    def cut(self, text: str, tokens: int) -> int:
        """Number of characters of the longest prefix with at most that many tokens, at a word boundary where there is one."""
        limit = tokens * CHARACTERS_PER_TOKEN
        if len(text) <= limit:
            return len(text)
        if not text[limit].isspace():
            space = max((at for at in range(limit) if text[at].isspace()), default=-1)
            limit = space + 1 if text[: space + 1].strip() else limit
        return limit

    def cut_tail(self, text: str, tokens: int) -> int:
        """Start index of the longest suffix with at most that many tokens."""
        return max(0, len(text) - tokens * CHARACTERS_PER_TOKEN)


class Measure:
    """Lengths and cuts as the segmenter needs them: bounded characters per token, never inside a grapheme."""

    def __init__(self, tokens: TokenCounter) -> None:
        self._tokens = tokens

    def length(self, text: str) -> int:
        """Tokens of the text; a text of very long tokens counts more."""
        return max(self._tokens.count(text), -(-len(text.strip()) // MOST_CHARACTERS_PER_TOKEN))

    def prefix(self, text: str, limit: int) -> int:
        """Characters of the longest prefix that fits, at least one; at a word boundary where there is one, else at a grapheme's."""
        head = text[: limit * MOST_CHARACTERS_PER_TOKEN]
        count = max(0, min(self._tokens.cut(head, limit), len(head)))
        if count < len(text) and not (count and (text[count - 1].isspace() or text[count].isspace())):
            count = bound_before(text, count) or count
        return max(1, count)

    def suffix(self, text: str, limit: int) -> str:
        """The end of the text that fits, from the start of a word where there is one."""
        if limit <= 0:
            return ""
        tail = text[-limit * MOST_CHARACTERS_PER_TOKEN :]
        start = self._tokens.cut_tail(tail, limit)
        is_inside_word = 0 < start < len(tail) and not tail[start - 1].isspace() and not tail[start].isspace()
        if is_inside_word:
            start = next((at for at in range(start, len(tail)) if tail[at].isspace()), len(tail))
        return tail[start:].strip()

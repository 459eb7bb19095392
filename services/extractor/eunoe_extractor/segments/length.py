"""How long a text is, in tokens, and where a text of a given length ends."""

from __future__ import annotations

from functools import lru_cache

from eunoe_models.embedding.characters import CHARACTERS_PER_TOKEN
from eunoe_models.embedding.port import TokenCounter

from eunoe_extractor.segments.grapheme import bound_before

MOST_CHARACTERS_PER_TOKEN = 16
"""A tokenizer may count an endless run of letters as one unknown token; this keeps such a passage within bounds."""

REMEMBERED = 256


def document_length(text: str) -> int:
    """Length of a document: ceil(characters / 4), whatever the model."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


class Measure:
    """Lengths and cuts as the segmenter needs them: bounded characters per token, never inside a grapheme."""

    def __init__(self, tokens: TokenCounter) -> None:
        self._tokens = tokens
        self._count = lru_cache(REMEMBERED)(tokens.count)  # the same piece is measured several times in a row

    def length(self, text: str) -> int:
        """Tokens of the text without the white space at its ends; a text of very long tokens counts more."""
        text = text.strip()
        return max(self._count(text), -(-len(text) // MOST_CHARACTERS_PER_TOKEN))

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

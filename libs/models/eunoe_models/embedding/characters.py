"""Token counts without a tokeniser: ceil(characters / 4). Used for document lengths, and for passages when there is no embedder."""

from __future__ import annotations

CHARACTERS_PER_TOKEN = 4
DEFAULT_WINDOW = 500
_NEAR = 4


class CharacterCounter:
    """A `TokenCounter` by characters."""

    def __init__(self, window: int = DEFAULT_WINDOW) -> None:
        self._window = window

    @property
    def window(self) -> int:
        """Most tokens of one text."""
        return self._window

    def count(self, text: str) -> int:
        """ceil(characters / 4)."""
        return -(-len(text) // CHARACTERS_PER_TOKEN)

    def cut(self, text: str, tokens: int) -> int:
        """Length of the longest prefix that fits, at white space if there is some in its last quarter."""
        end = max(0, tokens) * CHARACTERS_PER_TOKEN
        if end >= len(text):
            return len(text)
        near = range(end, end - end // _NEAR, -1)
        return next((at for at in near if text[at].isspace()), end)

    def cut_tail(self, text: str, tokens: int) -> int:
        """Start of the longest suffix that fits, at white space if there is some in its first quarter."""
        length = max(0, tokens) * CHARACTERS_PER_TOKEN
        if length >= len(text):
            return 0
        start = len(text) - length
        near = range(start, start + length // _NEAR)
        return next((at for at in near if text[at - 1].isspace()), start)

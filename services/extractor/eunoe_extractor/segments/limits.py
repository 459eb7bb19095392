"""Sizes the segmenter keeps to."""

from __future__ import annotations

from dataclasses import dataclass

from eunoe_models.embedding.characters import CharacterCounter
from eunoe_models.embedding.port import TokenCounter

SMALLEST_PASSAGE = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """`passage_tokens` is the aim for a passage; `header_tokens` the most a contextual header takes; documents of
    `section_threshold_tokens` (characters / 4) or more get sections of about `section_chars` characters.
    """

    passage_tokens: int = 500
    header_tokens: int = 48
    section_threshold_tokens: int = 8000
    section_chars: int = 3000

    def passage(self, window: int) -> int:
        """Most tokens of a passage for an embedder with that window: the header always fits beside it."""
        return max(SMALLEST_PASSAGE, min(self.passage_tokens, window - self.header_tokens))

    def without_embedder(self) -> TokenCounter:
        """The counter to use when no embedder is configured."""
        return CharacterCounter(self.passage_tokens + self.header_tokens)

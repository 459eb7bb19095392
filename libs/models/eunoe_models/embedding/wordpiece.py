"""The tokeniser of a BERT model on `tokenizers`: token ids for the model, spans for the counter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eunoe_contracts.errors import ModelMissing

from eunoe_models.embedding.spans import WORD, Span, SpanCounter

SPECIAL_TOKENS = 2
REMEMBERED_WORDS = 100_000
"""Words whose number of tokens is remembered: some ten megabytes."""
CHARACTERS_PER_TOKEN = 64
"""Text beyond that many characters per token of the window is not even tokenised: it cannot reach the model."""


class WordPiece:
    """Token ids of texts, cut to the model's length; nothing is padded. Safe to call from several threads."""

    def __init__(self, path: Path, *, max_length: int) -> None:
        from tokenizers import Tokenizer  # lazy: BM25-only processes never load it

        try:
            definition = path.read_text(encoding="utf-8")
        except OSError as error:
            raise ModelMissing(f"the tokeniser {path.name} cannot be read; run `eunoe models pull`") from error
        self._whole: Any = Tokenizer.from_str(definition)
        self._whole.no_padding()  # the published file pads and truncates to 128
        self._whole.no_truncation()
        self._max_length = max_length
        self._known: dict[str, int] = {}

    def ids(self, text: str) -> list[int]:
        """Ids with the special tokens, at most `max_length`."""
        # One by one, not encode_batch: that starts a thread pool which then warns at every fork of the process.
        ids: list[int] = self._whole.encode(text[: CHARACTERS_PER_TOKEN * self._max_length]).ids
        # Cut here: a second tokeniser that cuts costs eight megabytes. The last special token stays the last.
        return ids if len(ids) <= self._max_length else [*ids[: self._max_length - 1], ids[-1]]

    def counter(self) -> SpanCounter:
        """Counts as the model does, special tokens excluded."""
        return SpanCounter(self._spans, window=self._max_length - SPECIAL_TOKENS, tokens=self._length)

    def _length(self, text: str) -> int:
        # WordPiece splits at white space first, so a text has the tokens of its words; and most words were met before.
        known = self._known
        total = 0
        for word in WORD.findall(text):
            count = known.get(word)
            if count is None:
                count = len(self._whole.encode(word, add_special_tokens=False))
                if len(known) >= REMEMBERED_WORDS:
                    known.clear()
                known[word] = count
            total += count
        return total

    def _spans(self, text: str) -> list[Span]:
        encoding = self._whole.encode(text, add_special_tokens=False)
        words = encoding.word_ids
        return [
            # Added tokens such as a literal "[SEP]" in a text belong to no word; each is one of its own.
            Span(start, end, -end - 1 if word is None else word)
            for (start, end), word in zip(encoding.offsets, words, strict=True)
        ]

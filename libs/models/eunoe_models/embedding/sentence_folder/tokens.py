"""Tokens of a model folder, counted by a tokenizer of our own: counting through that of the library while it encodes breaks both."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from eunoe_contracts.errors import ModelMissing

from eunoe_models.embedding.spans import Span, SpanCounter
from eunoe_models.embedding.wordpiece import CHARACTERS_PER_TOKEN


class FolderTokens:
    """Counts, and cuts off what cannot reach the model. Safe to call from several threads.

    Whole texts are counted: only WordPiece tokens of a word never depend on the words beside it.
    """

    def __init__(self, path: Path, *, max_length: int, prompts: Iterable[str] = (), lower_case: bool = False) -> None:
        from tokenizers import Tokenizer, normalizers  # lazy: processes that search by words only never load it

        try:
            self._whole: Any = Tokenizer.from_str(path.read_text(encoding="utf-8"))
        except Exception as error:  # the library raises Exception itself
            raise ModelMissing(f"the tokenizer {path} cannot be read ({type(error).__name__}); copy the model's folder again") from error
        self._whole.no_padding()
        self._whole.no_truncation()
        if lower_case:  # as the library does for old models
            then = [self._whole.normalizer] if self._whole.normalizer is not None else []
            self._whole.normalizer = normalizers.Sequence([normalizers.Lowercase(), *then])
        self._max_length = max_length
        self._special = int(self._whole.num_special_tokens_to_add(is_pair=False))
        self.window = max_length - self._special - max(map(self._length, prompts), default=0)

    def counter(self) -> SpanCounter:
        """Counts as the model does, special tokens and prompt excluded."""
        return SpanCounter(self._spans, window=self.window)

    def clipped(self, text: str) -> str:
        """A text without the characters so far behind the window that they need not even be tokenised, and without lone surrogates."""
        return _clean(text[: CHARACTERS_PER_TOKEN * self._max_length])

    def size(self, text: str) -> int:
        """Tokens that the model computes for a text with its prompt, at least one."""
        return max(1, min(self._length(text) + self._special, self._max_length))

    def _length(self, text: str) -> int:
        return len(self._whole.encode(_clean(text), add_special_tokens=False))

    def _spans(self, text: str) -> list[Span]:
        encoding = self._whole.encode(_clean(text), add_special_tokens=False)
        return [
            Span(*_without_space(text, start, end), -end - 1 if word is None else word)
            for (start, end), word in zip(encoding.offsets, encoding.word_ids, strict=True)
        ]


def _clean(text: str) -> str:
    """Lone surrogates replaced, one character by one: tokenizers refuse them."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _without_space(text: str, start: int, end: int) -> tuple[int, int]:
    """SentencePiece gives a word the space before it; a cut there would not be seen to be one between words."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end

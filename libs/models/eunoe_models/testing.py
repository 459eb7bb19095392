"""Fakes of the model ports, for tests here and for users. Deterministic, quick, without files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from eunoe_contracts.errors import ModelUnavailable, NotEmbeddable

from eunoe_models.embedding.computing import CLOSED
from eunoe_models.embedding.port import Calibration, Lane, ModelProfile, Role, Vectors
from eunoe_models.embedding.spans import Span, SpanCounter

_WORD = re.compile(r"\w+|[^\w\s]")
DIMENSIONS = 128


@lru_cache(maxsize=50_000)
def _direction(word: str, dimensions: int) -> Vectors:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)


def word_spans(text: str) -> list[Span]:
    """Words and punctuation marks, each one token."""
    return [Span(match.start(), match.end(), number) for number, match in enumerate(_WORD.finditer(text))]


class HashingEmbedder:
    """An `EmbeddingModel` whose vector is the normalised sum of one fixed random direction per word.

    Texts that share words are near, others have a cosine around 0. `calls` records the lane and the number of texts of
    each call; set `failing` to make every call raise `ModelUnavailable`, and `poison` to a word whose texts raise `NotEmbeddable`.
    """

    def __init__(self, *, dimensions: int = DIMENSIONS, window: int = 254, model_id: str = "hashing-1") -> None:
        self._profile = ModelProfile(model_id, dimensions, window, Calibration(midpoint=0.3, slope=12.0))
        self.counter = SpanCounter(word_spans, window=window)
        self.calls: list[tuple[Lane, int]] = []
        self.failing = False
        self.poison = ""
        self._closed = False
        self.passages_computed = 0

    @property
    def profile(self) -> ModelProfile:
        """Identity of the fake."""
        return self._profile

    async def embed(self, texts: Sequence[str], *, lane: Lane = Lane.BULK, role: Role = Role.PASSAGE) -> Vectors:
        """As the port says; the role makes no difference."""
        del role
        if self._closed:
            raise ModelUnavailable(CLOSED)
        if self.failing:
            raise ModelUnavailable
        if self.poison and any(self.poison in text for text in texts):
            raise NotEmbeddable
        self.calls.append((lane, len(texts)))
        self.passages_computed += len(texts) if lane is Lane.BULK else 0
        if not texts:
            return np.zeros((0, self._profile.dimensions), np.float32)
        return np.stack([self._vector(text) for text in texts])

    async def close(self) -> None:
        """Calls are refused from now on, as by a real model. May be called twice."""
        self._closed = True

    def _vector(self, text: str) -> Vectors:
        words = _WORD.findall(text.casefold())[: self._profile.window] or [""]
        total: Vectors = np.stack([_direction(word, self._profile.dimensions) for word in words]).sum(axis=0)
        return np.asarray(total / np.linalg.norm(total), np.float32)

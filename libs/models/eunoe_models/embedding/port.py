"""The embedding port. Vectors are float32, L2-normalised, one row per text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[np.float32]


class Lane(StrEnum):
    """Interactive calls (queries) overtake bulk calls (ingest)."""

    INTERACTIVE = "interactive"
    BULK = "bulk"


class Role(StrEnum):
    """Some models prefix queries and passages differently."""

    QUERY = "query"
    PASSAGE = "passage"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Maps a cosine to the reported score: 1 / (1 + exp(-slope * (cosine - midpoint))). Fitted per model."""

    midpoint: float
    slope: float


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """What is stored with an index. Two profiles with different `model_id` or `dimensions` are never mixed."""

    model_id: str
    dimensions: int
    window: int
    calibration: Calibration


class TokenCounter(Protocol):
    """Counts tokens as the embedder does; cheap and synchronous."""

    @property
    def window(self) -> int:
        """Most tokens of one text, special tokens excluded."""
        ...

    def count(self, text: str) -> int:
        """Number of tokens, special tokens excluded."""
        ...

    def cut(self, text: str, tokens: int) -> int:
        """Number of characters of the longest prefix with at most that many tokens, at a word boundary where there is one."""
        ...

    def cut_tail(self, text: str, tokens: int) -> int:
        """Start index of the longest suffix with at most that many tokens."""
        ...


class EmbeddingModel(Protocol):
    """Turns texts into vectors. Safe to call from many tasks: calls are batched together, compute is off the event loop."""

    @property
    def profile(self) -> ModelProfile:
        """Identity of the model."""
        ...

    @property
    def passages_computed(self) -> int:
        """Texts of the bulk lane that this process has computed so far: grows as long as the model works."""
        ...

    async def embed(self, texts: Sequence[str], *, lane: Lane = Lane.BULK, role: Role = Role.PASSAGE) -> Vectors:
        """Shape (len(texts), dimensions). Raises `ModelUnavailable`, `NotEmbeddable` for a text that only this model cannot take.

        May be called twice: equal text, equal vector within 1e-2.
        """
        ...


class LocalModel(EmbeddingModel, Protocol):
    """An embedding model in this process, with its tokenizer."""

    @property
    def counter(self) -> TokenCounter:
        """Counts as this model does."""
        ...

    async def close(self) -> None:
        """Release threads and memory; waiting calls get `ModelUnavailable`. May be called twice."""
        ...

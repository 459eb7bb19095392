"""One call of a model's engine, and what its failures become."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from eunoe_contracts.errors import ModelUnavailable

from eunoe_models.embedding.port import Vectors

Compute: TypeAlias = Callable[[Sequence[list[int]]], Vectors]
"""Vectors of texts given as token ids; blocking. May run in two threads at once: a query beside a batch."""

CLOSED = "the embedding model was closed"


def computed(compute: Compute, texts: Sequence[list[int]]) -> Vectors:
    """Vectors of the texts. Raises `ModelUnavailable` for whatever the engine raises, and for numbers that are not finite."""
    try:
        vectors = compute(texts)
    except ModelUnavailable:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the engine raises; its text may quote a document
        raise ModelUnavailable(f"the embedding model failed ({type(error).__name__})") from None
    if not np.isfinite(vectors).all():
        raise ModelUnavailable("the embedding model gave numbers that are not finite")
    return vectors

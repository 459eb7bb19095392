"""One call of a model's engine, and what its failures become."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from typing import TypeAlias, TypeVar

import numpy as np
from eunoe_contracts.errors import ModelUnavailable

from eunoe_models.embedding.port import Vectors

Text = TypeVar("Text", bound=Sized)
"""A text as the engine takes it; its length is the number of its tokens."""

Compute: TypeAlias = Callable[[Sequence[Text]], Vectors]
"""Vectors of texts; blocking. May run in two threads at once: a query beside a batch."""

CLOSED = "the embedding model was closed"


def computed(compute: Compute[Text], texts: Sequence[Text]) -> Vectors:
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

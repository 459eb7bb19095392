"""One outcome per text of a batch: a text that the model cannot take must not fail the documents it shares a batch with.

And it must not be taken for an outage, which is tried again for hours: that it is the text's own fault shows when the model still
computes another text. Blocking; call it from one thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeAlias

import numpy as np
from eunoe_contracts.errors import ModelUnavailable, NotEmbeddable

from eunoe_models.embedding.computing import Compute, Text, computed
from eunoe_models.embedding.port import Vectors

Outcome: TypeAlias = Vectors | ModelUnavailable | NotEmbeddable


class SingledOut(Generic[Text]):
    """Computes a batch; when that fails, every text alone."""

    def __init__(self, compute: Compute[Text]) -> None:
        self._compute = compute
        self._sound: Text | None = None

    def __call__(self, texts: Sequence[Text]) -> list[Outcome]:
        """A vector, or why there is none, for each text, in order."""
        try:
            vectors = computed(self._compute, texts)
        except ModelUnavailable as error:
            return self._alone(texts, error)
        self._sound = texts[0]
        return list(vectors)

    def _alone(self, texts: Sequence[Text], error: ModelUnavailable) -> list[Outcome]:
        if self._sound is not None and not self._works():
            return [error] * len(texts)
        outcomes: list[Outcome] = [error] if len(texts) == 1 else [self._one(text) for text in texts]
        if all(isinstance(outcome, np.ndarray) for outcome in outcomes) or not self._works():
            return outcomes
        return [outcome if isinstance(outcome, np.ndarray) else NotEmbeddable() for outcome in outcomes]

    def _one(self, text: Text) -> Outcome:
        try:
            vector: Vectors = computed(self._compute, [text])[0]
        except ModelUnavailable as error:
            return error
        self._sound = text
        return vector

    def _works(self) -> bool:
        """Whether the model computes a text that it has computed before. False too when it has computed none yet."""
        return self._sound is not None and isinstance(self._one(self._sound), np.ndarray)

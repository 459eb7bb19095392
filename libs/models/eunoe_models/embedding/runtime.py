"""The `EmbeddingModel` on onnxruntime."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from eunoe_contracts.errors import ModelUnavailable
from eunoe_telemetry.metrics import Metrics

from eunoe_models.embedding.batcher import BatchLimits, MicroBatcher
from eunoe_models.embedding.computing import CLOSED
from eunoe_models.embedding.port import Lane, ModelProfile, Role, Vectors
from eunoe_models.embedding.queries import QueryLane
from eunoe_models.embedding.session import OnnxSession
from eunoe_models.embedding.spans import SpanCounter
from eunoe_models.embedding.wordpiece import SPECIAL_TOKENS, WordPiece

GRAPH_FILE = "model.onnx"
TOKENISER_FILE = "tokenizer.json"


class OnnxEmbedder:
    """A model folder (graph and tokeniser) as an embedding model. Made in about 0.1 s; `close` when done."""

    def __init__(
        self,
        folder: Path,
        profile: ModelProfile,
        *,
        threads: int = 0,
        limits: BatchLimits | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self._profile = profile
        self._tokeniser = WordPiece(folder / TOKENISER_FILE, max_length=profile.window + SPECIAL_TOKENS)
        session = OnnxSession(folder / GRAPH_FILE, threads=threads)
        limits = limits or BatchLimits()
        self._batcher = MicroBatcher(session.vectors, limits=limits, metrics=metrics)
        self._queries = QueryLane(session.vectors, queued=limits.queued, metrics=metrics)
        self._tokenising = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tokenise")
        self._closed = False
        self.counter: SpanCounter = self._tokeniser.counter()

    @property
    def profile(self) -> ModelProfile:
        """Identity of the model."""
        return self._profile

    @property
    def passages_computed(self) -> int:
        """As the port says."""
        return self._batcher.computed

    async def embed(self, texts: Sequence[str], *, lane: Lane = Lane.BULK, role: Role = Role.PASSAGE) -> Vectors:
        """As the port says; the role makes no difference to this model. Longer texts are cut to the window."""
        del role
        if self._closed:
            raise ModelUnavailable(CLOSED)
        if not texts:
            return np.zeros((0, self._profile.dimensions), np.float32)
        if lane is Lane.INTERACTIVE:
            # A query takes less than a millisecond here and must not queue behind a document.
            return np.stack(await self._queries.submit(self._ids(texts)))
        ids = await asyncio.get_running_loop().run_in_executor(self._tokenising, self._ids, texts)
        return np.stack(await self._batcher.submit(ids))

    async def close(self) -> None:
        """Release threads and memory; waiting calls get `ModelUnavailable`. May be called twice."""
        self._closed = True
        await self._batcher.close()
        await self._queries.close()
        self._tokenising.shutdown(wait=True)

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [self._tokeniser.ids(text) for text in texts]

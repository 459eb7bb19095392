"""The `EmbeddingModel` on sentence-transformers."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from eunoe_contracts.errors import ModelMissing, ModelUnavailable
from eunoe_telemetry.metrics import Metrics

from eunoe_models.embedding.batcher import BatchLimits, MicroBatcher, cut_batches
from eunoe_models.embedding.computing import CLOSED, computed
from eunoe_models.embedding.port import Lane, ModelProfile, Role, Vectors
from eunoe_models.embedding.queries import QueryLane
from eunoe_models.embedding.sentence_folder.description import FolderDescription
from eunoe_models.embedding.sentence_folder.library import Engine
from eunoe_models.embedding.spans import SpanCounter

logger = logging.getLogger(__name__)

CPU_TOKENS, GPU_TOKENS = 2_048, 32_768
"""Tokens of a batch: on a CPU more take longer and win nothing; a GPU has room for them."""
SHORT_CHARACTERS = 2_000
"""A query up to that long is tokenised on the event loop, in less than a millisecond."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text as the library gets it; its length is the number of its tokens."""

    text: str
    prompt: str
    tokens: int

    def __len__(self) -> int:
        return self.tokens


class FolderEmbedder:
    """A loaded model folder as an embedding model. Computes a text when made, which warms the device up; `close` when done.

    Raises `ModelMissing` for a model whose vectors are not what its folder says.
    """

    def __init__(
        self,
        model: FolderDescription,
        engine: Engine,
        *,
        tokens: int | None = None,
        wait_s: float = 0.005,
        metrics: Metrics | None = None,
    ) -> None:
        self._model = model
        self._engine = engine
        self._lock = threading.Lock()  # the library is not made for two calls at once
        self._budget = tokens or (GPU_TOKENS if engine.is_gpu else CPU_TOKENS)
        self.counter: SpanCounter = model.tokens.counter()
        self._try()
        limits = BatchLimits(tokens=self._budget, wait_s=wait_s)
        self._batcher = MicroBatcher(self._vectors, limits=limits, metrics=metrics)
        # A query takes milliseconds, and waits for the batch before it: never on the event loop.
        self._queries = QueryLane(self._vectors, queued=limits.queued, short=0, metrics=metrics)
        self._tokenising = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tokenise")
        self._closed = False

    @property
    def profile(self) -> ModelProfile:
        """Identity of the model."""
        return self._model.profile

    @property
    def batch_tokens(self) -> int:
        """Most tokens of a batch, padding counted: as set, or less after the device's memory was full."""
        return self._budget

    @property
    def passages_computed(self) -> int:
        """As the port says."""
        return self._batcher.computed

    async def embed(self, texts: Sequence[str], *, lane: Lane = Lane.BULK, role: Role = Role.PASSAGE) -> Vectors:
        """As the port says, with the model's prompt for the role. Longer texts are cut to the window."""
        if self._closed:
            raise ModelUnavailable(CLOSED)
        if not texts:
            return np.zeros((0, self.profile.dimensions), np.float32)
        prompt = self._model.prompts[role]
        if lane is Lane.INTERACTIVE and sum(map(len, texts)) <= SHORT_CHARACTERS:
            return np.stack(await self._queries.submit(self._sized(texts, prompt)))
        sized = await asyncio.get_running_loop().run_in_executor(self._tokenising, self._sized, texts, prompt)
        return np.stack(await (self._queries if lane is Lane.INTERACTIVE else self._batcher).submit(sized))

    async def close(self) -> None:
        """Release threads and memory; waiting calls get `ModelUnavailable`. May be called twice."""
        self._closed = True
        await self._batcher.close()
        await self._queries.close()
        self._tokenising.shutdown(wait=True)

    def _sized(self, texts: Sequence[str], prompt: str) -> list[Text]:
        clipped = [self._model.tokens.clipped(text) for text in texts]
        return [Text(text, prompt, self._model.tokens.size(prompt + text)) for text in clipped]

    def _try(self) -> None:
        """A model that overflows its numbers, or is another than described, shows at the start and not at the first document."""
        texts = self._sized(["A text of a few words."], self._model.prompts[Role.PASSAGE])
        try:
            computed(self._vectors, texts)
        except ModelUnavailable as error:
            raise ModelMissing(f"the model in {self._model.folder} does not work on {self._engine.device}: {error.message}") from error

    def _vectors(self, texts: Sequence[Text]) -> Vectors:
        """Blocking. One prompt per call of the library, and not more tokens than the memory is known to hold."""
        result = np.empty((len(texts), self.profile.dimensions), np.float32)
        for prompt in {text.prompt for text in texts}:
            rows = sorted((at for at, text in enumerate(texts) if text.prompt == prompt), key=lambda at: len(texts[at]))
            while rows:
                batch = cut_batches([len(texts[at]) for at in rows], self._budget)[0]
                chosen = rows[: len(batch)]
                found = self._encoded([texts[at].text for at in chosen], prompt)
                if found is not None:
                    result[chosen] = found
                    rows = rows[len(batch) :]
                elif len(batch) == 1:
                    raise ModelUnavailable(f"the memory of {self._engine.device} does not hold one text of {len(texts[chosen[0]])} tokens")
                else:
                    self._budget = max(1, len(batch) * len(texts[chosen[-1]]) // 2)
                    logger.warning("the memory of %s was full: batches of %d tokens from now on", self._engine.device, self._budget)
        return result

    def _encoded(self, texts: list[str], prompt: str) -> Vectors | None:
        """None when the memory of the device was full."""
        with self._lock:
            try:
                raw = self._engine.encoder.encode(
                    texts, batch_size=len(texts), prompt=prompt, normalize_embeddings=True, show_progress_bar=False
                )
            except self._engine.out_of_memory:
                raw = None
            if raw is None:  # behind the handler: the exception holds what filled the memory
                self._engine.free()
                return None
        if raw.shape != (len(texts), self.profile.dimensions):
            raise ModelUnavailable(f"the model gave vectors of the shape {raw.shape}, not of {self.profile.dimensions} numbers")
        # float16 in and out, and lengths off by some ten-thousandths, where the model computes with less than float32.
        vectors = raw.astype(np.float32)
        with np.errstate(invalid="ignore", divide="ignore"):  # a vector of zeros becomes one that is refused as not finite
            return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)

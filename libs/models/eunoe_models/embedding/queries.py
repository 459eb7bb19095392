"""Queries are computed alone, at once, and beside whatever batch of passages is being computed.

Alone, because dynamic int8 quantisation takes one range per call, so that a vector depends a little on its company. A short query
may run on the event loop: it takes our graph a millisecond or two, and two changes of thread take longer while documents are ingested.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic

from eunoe_contracts.errors import ModelUnavailable
from eunoe_telemetry.metrics import Metrics

from eunoe_models.embedding.computing import CLOSED, Compute, Text, computed
from eunoe_models.embedding.port import Lane, Vectors

SHORT = 64
"""Tokens of a text that our graph computes on the event loop."""


class QueryLane(Generic[Text]):
    """Queries of more than `short` tokens wait for each other in a thread of their own, `queued` of them at most; with 0 all do.
    Use it from one event loop.
    """

    def __init__(self, compute: Compute[Text], *, queued: int, short: int = SHORT, metrics: Metrics | None = None) -> None:
        self._compute = compute
        self._queued = queued
        self._short = short
        self._metrics = metrics
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed-query")
        self._waiting = 0
        self._closed = False

    async def submit(self, texts: Sequence[Text]) -> list[Vectors]:
        """One vector per text, in order. Raises `ModelUnavailable`: computing failed, too many queries wait, or closed."""
        if len(texts) == 1 and len(texts[0]) <= self._short and not self._closed:
            return [self._computed(texts[0])]
        return await asyncio.gather(*(self._in_thread(text) for text in texts))

    async def close(self) -> None:
        """Refuse what comes, and what waits. May be called twice."""
        self._closed = True
        await asyncio.to_thread(self._thread.shutdown)

    async def _in_thread(self, text: Text) -> Vectors:
        if self._closed:
            raise ModelUnavailable(CLOSED)
        if self._waiting >= self._queued:
            raise ModelUnavailable("too many queries wait for the embedding model", retry_after_s=1)
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._computed, text)
        finally:
            self._waiting -= 1

    def _computed(self, text: Text) -> Vectors:
        if self._closed:
            raise ModelUnavailable(CLOSED)
        vector: Vectors = computed(self._compute, [text])[0]
        if self._metrics is not None:
            self._metrics.observe("embed_batch_size", 1)
            self._metrics.count("embed_tokens_total", len(text), lane=Lane.INTERACTIVE.value)
        return vector

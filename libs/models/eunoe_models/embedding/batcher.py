"""One micro-batcher for all callers that embed passages: batches across documents within a token budget.

Dynamic int8 quantisation takes one range per batch, so a vector depends a little on its batch mates: passages are computed with
others of about their length. Compute runs in one thread, off the event loop. Queries do not come here (`queries.py`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic

from eunoe_contracts.errors import EunoeError, ModelUnavailable
from eunoe_telemetry.metrics import Metrics

from eunoe_models.embedding.computing import CLOSED, Compute, Text
from eunoe_models.embedding.port import Lane, Vectors
from eunoe_models.embedding.singling import Outcome, SingledOut

LOOK_AHEAD = 16
"""Batches that are sorted by length together: enough for little padding, few enough that the oldest text waits under a second."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """`tokens` per batch, padding counted; `wait_s` a first text waits for others; `queued` texts wait at most."""

    tokens: int = 512
    wait_s: float = 0.005
    queued: int = 4096


@dataclass(slots=True, eq=False)
class _Entry(Generic[Text]):
    text: Text
    result: asyncio.Future[Vectors]


class MicroBatcher(Generic[Text]):
    """Queue, batches and the compute thread. Callers are tasks of one event loop; they wait while the queue is full."""

    def __init__(self, compute: Compute[Text], *, limits: BatchLimits, metrics: Metrics | None = None) -> None:
        self._compute = SingledOut(compute)
        self._limits = limits
        self._metrics = metrics
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed")
        self._queue: deque[_Entry[Text]] = deque()
        self._filled = asyncio.Event()
        self._room = asyncio.Condition()
        self._drain: asyncio.Task[None] | None = None
        self._closed = False
        self._entrance = asyncio.Lock()
        self.computed = 0

    async def submit(self, texts: Sequence[Text]) -> list[Vectors]:
        """One vector per text, in order. Raises `ModelUnavailable`: computing failed, or closed; `NotEmbeddable`: one of the texts
        cannot be computed, while others can.
        """
        entries: list[_Entry[Text]] = []
        try:
            # One caller after the other: taking turns, many callers with many texts would all come to their deadlines with some done.
            async with self._entrance:
                for text in texts:
                    entries.append(await self._enqueue(text))  # noqa: PERF401 - `finally` must see what was queued so far
            return list(await asyncio.gather(*(entry.result for entry in entries)))
        finally:
            for entry in entries:
                # Cancelled: nothing of it is computed any more. Failed before gather looked: seen, so asyncio does not warn.
                if not entry.result.cancel() and not entry.result.cancelled():
                    entry.result.exception()

    async def close(self) -> None:
        """Fail what waits and end the thread after its batch. May be called twice."""
        self._closed = True
        for entry in self._queue:
            _settle(entry, ModelUnavailable(CLOSED))
        self._queue.clear()
        self._filled.set()
        async with self._room:
            self._room.notify_all()
        if self._drain is not None:
            await asyncio.gather(self._drain, return_exceptions=True)
        self._thread.shutdown(wait=True)

    async def _enqueue(self, text: Text) -> _Entry[Text]:
        if len(self._queue) >= self._limits.queued:
            async with self._room:
                await self._room.wait_for(lambda: self._closed or len(self._queue) < self._limits.queued)
        if self._closed:
            raise ModelUnavailable(CLOSED)
        entry = _Entry(text, asyncio.get_running_loop().create_future())
        self._queue.append(entry)
        self._filled.set()
        if self._drain is None or self._drain.done():
            self._drain = asyncio.create_task(self._run(), name="embed-batches")
        return entry

    async def _run(self) -> None:
        """Works until the queue is empty; a later text starts it again, so nothing is left over when a loop ends."""
        while self._queue:
            await self._fill()
            for batch in self._planned():
                await self._one(batch)
                async with self._room:
                    self._room.notify_all()

    async def _fill(self) -> None:
        """Wait a moment for batch mates; not when a full batch is there."""
        deadline = asyncio.get_running_loop().time() + self._limits.wait_s
        while sum(len(entry.text) for entry in self._queue) < self._limits.tokens:
            left = deadline - asyncio.get_running_loop().time()
            self._filled.clear()
            if left <= 0 or self._closed:
                return
            try:
                async with asyncio.timeout(left):
                    await self._filled.wait()
            except TimeoutError:
                return

    def _planned(self) -> list[list[_Entry[Text]]]:
        """Take the oldest texts, some batches' worth, sorted by length so that little is padded."""
        taken: list[_Entry[Text]] = []
        tokens = 0
        while self._queue and tokens < LOOK_AHEAD * self._limits.tokens:
            entry = self._queue.popleft()
            taken.append(entry)
            tokens += len(entry.text)
        taken.sort(key=lambda entry: len(entry.text))
        return [[taken[at] for at in batch] for batch in cut_batches([len(entry.text) for entry in taken], self._limits.tokens)]

    async def _one(self, batch: list[_Entry[Text]]) -> None:
        live = [entry for entry in batch if not entry.result.done()]
        if not live:
            return
        if self._closed:
            for entry in live:
                _settle(entry, ModelUnavailable(CLOSED))
            return
        texts = [entry.text for entry in live]
        outcomes = await asyncio.get_running_loop().run_in_executor(self._thread, self._compute, texts)
        for entry, outcome in zip(live, outcomes, strict=True):
            _settle(entry, outcome)
        sizes = [len(text) for text, outcome in zip(texts, outcomes, strict=True) if not isinstance(outcome, EunoeError)]
        self.computed += len(sizes)
        if self._metrics is not None and sizes:
            self._metrics.observe("embed_batch_size", len(sizes))
            self._metrics.count("embed_tokens_total", sum(sizes), lane=Lane.BULK.value)


def cut_batches(lengths: Sequence[int], tokens: int) -> list[range]:
    """Groups of consecutive texts, given their rising lengths, whose padded size stays within the budget (a longer text is alone)."""
    batches: list[range] = []
    for at, length in enumerate(lengths):
        if batches and (len(batches[-1]) + 1) * length <= tokens:
            batches[-1] = range(batches[-1].start, at + 1)
        else:
            batches.append(range(at, at + 1))
    return batches


def _settle(entry: _Entry[Text], outcome: Outcome) -> None:
    if entry.result.done():
        return
    if isinstance(outcome, EunoeError):
        entry.result.set_exception(outcome)
    else:
        entry.result.set_result(outcome)

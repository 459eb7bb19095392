"""The micro-batcher and the lane of queries: shared batches, bounds, failures."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence

import numpy as np
import pytest
from eunoe_contracts.errors import ModelUnavailable, NotEmbeddable
from eunoe_models.embedding.batcher import BatchLimits, MicroBatcher, cut_batches
from eunoe_models.embedding.queries import SHORT, QueryLane
from eunoe_telemetry.metrics import Metrics

Make = Callable[..., MicroBatcher]


class Engine:
    """Gives [first id, length] of each text; remembers the batches and threads; waits while the gate is closed, and with `held` texts
    until they are let go.
    """

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.threads: set[str] = set()
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.error: Exception | None = None
        self.value = 1.0
        self.held: set[int] = set()
        self.refused: set[int] = set()
        self.poison: set[int] = set()
        self.let_go = threading.Event()

    def __call__(self, texts: Sequence[list[int]]) -> np.ndarray:
        self.entered.set()
        self.gate.wait(10)
        if texts[0][0] in self.held:
            self.let_go.wait(10)
        self.threads.add(threading.current_thread().name)
        self.batches.append([text[0] for text in texts])
        if self.error is not None:
            raise self.error
        if self.refused.intersection(text[0] for text in texts):
            raise ValueError("text of a document")
        if self.poison.intersection(text[0] for text in texts):  # one range of numbers per batch: it spoils its company's too
            return np.full((len(texts), 2), np.nan, np.float32)
        return np.array([[text[0], len(text) * self.value] for text in texts], np.float32)


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
async def make(engine: Engine) -> AsyncIterator[Make]:
    made: list[MicroBatcher] = []

    def new(metrics: Metrics | None = None, **limits: float) -> MicroBatcher:
        made.append(MicroBatcher(engine, limits=BatchLimits(**limits), metrics=metrics))
        return made[-1]

    yield new
    engine.gate.set()
    for each in made:
        await each.close()


@pytest.fixture
async def lane(engine: Engine) -> AsyncIterator[QueryLane]:
    made = QueryLane(engine, queued=2)
    yield made
    engine.gate.set()
    await made.close()
    await made.close()


def text(number: int, length: int = 3) -> list[int]:
    return [number] * length


async def entered(engine: Engine) -> None:
    assert await asyncio.to_thread(engine.entered.wait, 10)


async def test_callers_share_a_batch_and_get_their_own_vectors(make: Make, engine: Engine) -> None:
    metrics = Metrics()
    batcher = make(metrics, tokens=100, wait_s=0.05)
    answers = await asyncio.gather(*(batcher.submit([text(n), text(n + 100)]) for n in range(5)))
    assert [[vector[0] for vector in answer] for answer in answers] == [[n, n + 100] for n in range(5)]
    assert len(engine.batches) == 1
    assert all(name.startswith("embed") for name in engine.threads)
    assert metrics.registry.get_sample_value("eunoe_embed_tokens_total", {"lane": "bulk"}) == 30
    assert metrics.registry.get_sample_value("eunoe_embed_batch_size_sum") == 10


async def test_batches_hold_texts_of_like_length_within_the_budget(make: Make, engine: Engine) -> None:
    batcher = make(tokens=40, wait_s=0.05)
    lengths = [20, 2, 19, 3, 50, 1]
    answers = await batcher.submit([text(length, length) for length in lengths])
    assert [vector[1] for vector in answers] == lengths
    assert engine.batches == [[1, 2, 3], [19, 20], [50]]


async def test_queries_do_not_wait_for_a_batch_and_each_is_alone(make: Make, engine: Engine, lane: QueryLane) -> None:
    batcher = make(tokens=30, wait_s=0)
    engine.gate.clear()
    bulk = asyncio.create_task(batcher.submit([text(n, 20) for n in range(2)]))
    await entered(engine)
    engine.held = {0}
    engine.gate.set()
    async with asyncio.timeout(10):
        answers = await asyncio.gather(lane.submit([text(100)]), lane.submit([text(101, SHORT + 1), text(102)]))
    assert [vector[0] for answer in answers for vector in answer] == [100, 101, 102]
    assert engine.batches == [[100], [101], [102]]
    engine.let_go.set()
    await bulk
    assert engine.batches[3:] == [[0], [1]]


async def test_a_short_query_stays_on_the_event_loop_and_a_long_one_does_not(engine: Engine, lane: QueryLane) -> None:
    await lane.submit([text(1, SHORT)])
    assert engine.threads == {threading.current_thread().name}
    await lane.submit([text(1, SHORT + 1)])
    assert any(name.startswith("embed-query") for name in engine.threads)


async def test_a_failure_is_model_unavailable_for_its_batch_only(make: Make, engine: Engine) -> None:
    batcher = make(wait_s=0)
    engine.error = RuntimeError("text of a document")
    with pytest.raises(ModelUnavailable, match=r"\(RuntimeError\)") as caught:
        await batcher.submit([text(1), text(2)])
    assert "document" not in str(caught.value)
    engine.error = None
    assert (await batcher.submit([text(3)]))[0][0] == 3


async def test_numbers_that_are_not_finite_are_refused(make: Make, engine: Engine, lane: QueryLane) -> None:
    engine.value = float("nan")
    for submit in (make(wait_s=0).submit, lane.submit):
        with pytest.raises(ModelUnavailable, match="finite"):
            await submit([text(1)])


@pytest.mark.parametrize("kind", ["refused", "poison"])
async def test_a_text_that_the_model_cannot_take_fails_alone(make: Make, engine: Engine, kind: str) -> None:
    getattr(engine, kind).add(2)
    batcher = make(tokens=100, wait_s=0.05)
    answers = await asyncio.gather(*(batcher.submit([text(n)]) for n in range(1, 4)), return_exceptions=True)
    assert engine.batches[0] == [1, 2, 3]
    assert isinstance(answers[1], NotEmbeddable)
    assert [answers[0][0][0], answers[2][0][0]] == [1, 3]
    assert batcher.computed == 2
    with pytest.raises(NotEmbeddable):  # alone in its batch too: the model has computed others
        await batcher.submit([text(2)])


async def test_a_model_that_computes_nothing_any_more_is_an_outage(make: Make, engine: Engine) -> None:
    batcher = make(tokens=100, wait_s=0.05)
    await batcher.submit([text(1)])
    engine.value = float("nan")
    answers = await asyncio.gather(*(batcher.submit([text(n)]) for n in range(1, 4)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [ModelUnavailable] * 3
    assert engine.batches == [[1], [1, 2, 3], [1]], "what worked before was tried, and no other"


async def test_a_full_queue_makes_callers_wait(make: Make, engine: Engine) -> None:
    batcher = make(tokens=3, wait_s=0, queued=2)
    engine.gate.clear()
    first = asyncio.create_task(batcher.submit([text(0)]))
    await entered(engine)
    bulk = asyncio.create_task(batcher.submit([text(n) for n in range(1, 9)]))
    await asyncio.sleep(0)
    engine.gate.set()
    answers = await asyncio.gather(first, bulk)
    assert [vector[0] for vector in answers[1]] == list(range(1, 9))


async def test_callers_with_many_texts_are_served_one_after_the_other(make: Make, engine: Engine) -> None:
    batcher = make(tokens=3, wait_s=0, queued=2)
    callers = [[text(10 * caller + number) for number in range(5)] for caller in range(1, 5)]
    await asyncio.gather(*(batcher.submit(each) for each in callers))
    assert [first for batch in engine.batches for first in batch] == [each[0] for caller in callers for each in caller]
    assert batcher.computed == 20


async def test_too_many_queries_are_refused(engine: Engine, lane: QueryLane) -> None:
    engine.gate.clear()
    queries = [asyncio.create_task(lane.submit([text(100 + n, SHORT + 1)])) for n in range(2)]
    await entered(engine)
    with pytest.raises(ModelUnavailable, match="too many queries") as caught:
        await lane.submit([text(200, SHORT + 1)])
    assert caught.value.retry_after_s
    engine.gate.set()
    assert [(await query)[0][0] for query in queries] == [100, 101]


async def test_what_a_cancelled_caller_wanted_is_not_computed(make: Make, engine: Engine) -> None:
    batcher = make(tokens=3, wait_s=0)
    engine.gate.clear()
    first = asyncio.create_task(batcher.submit([text(0)]))
    await entered(engine)
    dropped = asyncio.create_task(batcher.submit([text(1)]))
    kept = asyncio.create_task(batcher.submit([text(2)]))
    await asyncio.sleep(0)
    dropped.cancel()
    engine.gate.set()
    await asyncio.gather(first, kept)
    with pytest.raises(asyncio.CancelledError):
        await dropped
    assert engine.batches == [[0], [2]]


async def test_close_fails_what_waits_and_may_be_called_twice(make: Make, engine: Engine) -> None:
    batcher = make(tokens=3, wait_s=0)
    engine.gate.clear()
    first = asyncio.create_task(batcher.submit([text(0)]))
    await entered(engine)
    waiting = asyncio.create_task(batcher.submit([text(1), text(2)]))
    await asyncio.sleep(0)
    closing = asyncio.create_task(batcher.close())
    await asyncio.sleep(0)
    engine.gate.set()
    await closing
    await batcher.close()
    assert (await first)[0][0] == 0
    with pytest.raises(ModelUnavailable, match="closed"):
        await waiting
    with pytest.raises(ModelUnavailable, match="closed"):
        await batcher.submit([text(3)])
    assert engine.batches == [[0]]


def test_batches_are_cut_by_padded_size() -> None:
    assert cut_batches([1, 2, 3, 19, 20, 50], 40) == [range(3), range(3, 5), range(5, 6)]
    assert cut_batches([], 40) == []

"""What every EmbeddingModel and its TokenCounter do. A new adapter is one more entry in `MODELS`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eunoe_contracts.errors import ModelUnavailable
from eunoe_models.artifacts import load_embedder, require_embedder
from eunoe_models.config import ModelSettings
from eunoe_models.embedding.port import EmbeddingModel, Lane, Role
from eunoe_models.testing import HashingEmbedder

TEXTS = [
    "Customers may send goods back within thirty days of delivery for a full refund.",
    "Paper stuck in the printer: open the rear cover and pull the sheet out slowly.",
    "The group in Berlin has been headed by Katharina Vogel since March.",
    "",
    "x",
    "\u6f22\u5b57 \U0001f600 e\u0301 \x00 \ud7ff",
    "a long one " * 300,
]
SAME = 0.95
"""Cosine of one text's vectors in other company: int8 models quantise a batch together, texts of a word or none differ most."""


def minilm() -> Any:
    loaded = load_embedder(ModelSettings(threads=1))
    if loaded.model is None:
        pytest.skip(f"minilm is not tested here: {loaded.reason}")
    return loaded.model


def sentence_transformers(folder: Path) -> Any:
    loaded = require_embedder(ModelSettings(backend="sentence-transformers", folder=folder, device="cpu", threads=1))
    assert loaded.model is not None
    return loaded.model


MODELS: dict[str, Callable[[], Any]] = {"hashing": HashingEmbedder, "minilm": minilm}
NEEDS_TORCH = (
    pytest.mark.torch,
    pytest.mark.timeout(300),  # the first import takes minutes where its files were not compiled yet
    pytest.mark.skipif(not find_spec("sentence_transformers"), reason="not installed: `make test-sentence-transformers`"),
)


@pytest.fixture(params=[*sorted(MODELS), pytest.param("sentence-transformers", marks=NEEDS_TORCH)])
async def model(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    made = MODELS[request.param]() if request.param in MODELS else sentence_transformers(request.getfixturevalue("minilm_folder"))
    yield made
    await made.close()


async def test_vectors_are_unit_length_float32_in_the_order_of_the_texts(model: EmbeddingModel) -> None:
    vectors = await model.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), model.profile.dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
    for text, vector in zip(TEXTS, vectors, strict=True):
        (alone,) = await model.embed([text], lane=Lane.INTERACTIVE, role=Role.QUERY)
        assert float(alone @ vector) > SAME


async def test_no_texts_give_no_vectors(model: EmbeddingModel) -> None:
    assert (await model.embed([])).shape == (0, model.profile.dimensions)


async def test_equal_text_gives_an_equal_vector(model: EmbeddingModel) -> None:
    first = await model.embed(TEXTS[:1], lane=Lane.INTERACTIVE)
    second = await model.embed(TEXTS[:1], lane=Lane.INTERACTIVE)
    assert np.allclose(first, second, atol=1e-2)


async def test_many_callers_at_once_get_their_own_vectors(model: EmbeddingModel) -> None:
    expected = await model.embed(TEXTS)
    order = [number % len(TEXTS) for number in range(60)]
    lanes = [Lane.INTERACTIVE if number % 7 == 0 else Lane.BULK for number in range(60)]
    answers = await asyncio.gather(*(model.embed([TEXTS[at]], lane=lane) for at, lane in zip(order, lanes, strict=True)))
    for at, answer in zip(order, answers, strict=True):
        assert float(answer[0] @ expected[at]) > SAME


async def test_a_paraphrase_is_nearer_than_another_topic(model: EmbeddingModel) -> None:
    vectors = await model.embed(TEXTS[:3])
    (query,) = await model.embed(["how do I pull a stuck sheet of paper out of the printer"], lane=Lane.INTERACTIVE, role=Role.QUERY)
    assert int(np.argmax(vectors @ query)) == 1


async def test_the_event_loop_is_not_blocked_by_a_long_text(model: EmbeddingModel) -> None:
    work = asyncio.create_task(model.embed(["word " * 250] * 40))
    turns = 0
    while not work.done():
        turns += 1
        await asyncio.wait({work}, timeout=0.005)
    assert turns >= 1
    assert len(await work) == 40


async def test_the_score_curve_tells_topics_apart(model: EmbeddingModel) -> None:
    curve = model.profile.calibration

    def score(cosine: float) -> float:
        return float(1 / (1 + np.exp(-curve.slope * (cosine - curve.midpoint))))

    assert score(0.15) < 0.3
    assert score(0.55) > 0.6


async def test_after_close_calls_are_refused(model: Any) -> None:
    await model.close()
    await model.close()
    with pytest.raises(ModelUnavailable, match="closed"):
        await model.embed(["text"])


async def test_the_counter_fits_the_window(model: Any) -> None:
    counter = model.counter
    assert counter.window == model.profile.window
    text = TEXTS[-1]
    assert counter.count(text) > counter.window
    end, start = counter.cut(text, counter.window), counter.cut_tail(text, counter.window)
    assert counter.window - 3 <= counter.count(text[:end]) <= counter.window
    assert counter.window - 3 <= counter.count(text[start:]) <= counter.window
    # What stands behind the window does not reach the model.
    whole, cut = await model.embed([text, text[:end]])
    assert float(whole @ cut) > SAME


async def test_the_counter_cuts_at_words(model: Any) -> None:
    counter = model.counter
    text = "alpha beta gamma delta"
    assert text[: counter.cut(text, 2)] == "alpha beta"
    assert text[counter.cut_tail(text, 2) :] == "gamma delta"
    assert (counter.cut(text, 99), counter.cut_tail(text, 99)) == (len(text), 0)
    assert (counter.cut(text, 0), counter.cut_tail(text, 0)) == (0, len(text))
    assert counter.count("") == 0

"""The adapter on a library of the same signature: prompts, batches, full memory, numbers, devices, failures."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from eunoe_contracts.errors import ModelMissing, ModelUnavailable
from eunoe_models.artifacts import load_embedder, require_embedder
from eunoe_models.config import ModelSettings
from eunoe_models.embedding.port import Lane, Role
from eunoe_models.embedding.sentence_folder import library
from eunoe_models.embedding.sentence_folder.embedder import CPU_TOKENS, GPU_TOKENS, SHORT_CHARACTERS, FolderEmbedder
from eunoe_telemetry.metrics import Metrics

Make = Callable[..., Path]
PROMPTS = {"config_sentence_transformers.json": {"prompts": {"query": "query: ", "document": "the "}}}


class FullMemoryError(RuntimeError):
    """Stands for torch.OutOfMemoryError."""


class Library:
    """torch and sentence_transformers at once: `holds` padded characters fit into its memory."""

    def __init__(self) -> None:
        self.loads: list[tuple[str, dict[str, Any]]] = []
        self.calls: list[tuple[list[str], str]] = []
        self.threads: set[str] = set()
        self.cards = 0
        self.cpu_threads = 0
        self.freed = 0
        self.holds = 1_000_000
        self.width = 4
        self.dtype = np.float32
        self.value = 1.0
        self.error: Exception | None = None
        self.max_seq_length = 999
        self.inside = 0
        self.most_inside = 0

    def load(self, folder: str, **options: Any) -> Library:
        self.loads.append((folder, options))
        if self.error is not None:
            raise self.error
        return self

    def encode(
        self, sentences: list[str], *, batch_size: int, prompt: str, normalize_embeddings: bool, show_progress_bar: bool
    ) -> np.ndarray:
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        self.threads.add(threading.current_thread().name)
        try:
            assert batch_size == len(sentences) > 0
            assert normalize_embeddings
            assert not show_progress_bar
            assert all(type(each) is str for each in sentences)
            if len(sentences) * max(map(len, sentences)) > self.holds:
                raise FullMemoryError("of a document")
            if self.error is not None:
                raise self.error
            self.calls.append((sentences, prompt))
            rows = [[self.value, len(each) + 1, sum(map(ord, prompt)), *[0] * self.width][: self.width] for each in sentences]
            return np.array(rows).astype(self.dtype)
        finally:
            self.inside -= 1

    def set_num_threads(self, number: int) -> None:
        self.cpu_threads = number

    def free(self) -> None:
        self.freed += 1


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Library:
    for name in library.BEFORE_IMPORT:
        monkeypatch.setenv(name, "before")
    found = Library()
    torch: Any = ModuleType("torch")
    torch.cuda = SimpleNamespace(is_available=lambda: found.cards > 0, device_count=lambda: found.cards, empty_cache=found.free)
    torch.backends = SimpleNamespace(mps=SimpleNamespace(is_available=lambda: False))
    torch.OutOfMemoryError = FullMemoryError
    torch.set_num_threads = found.set_num_threads
    package: Any = ModuleType("sentence_transformers")
    package.SentenceTransformer = found.load
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    return found


def loaded(folder: Path, metrics: Metrics | None = None, **settings: Any) -> FolderEmbedder:
    model = require_embedder(ModelSettings(backend="sentence-transformers", folder=folder, **settings), metrics=metrics).model
    assert isinstance(model, FolderEmbedder)
    return model


async def test_the_library_is_opened_without_network_progress_or_foreign_code(there: Library, model_folder: Make) -> None:
    model = loaded(folder := model_folder(), threads=3)
    assert there.loads == [
        (str(folder), {"device": "cpu", "local_files_only": True, "trust_remote_code": False, "model_kwargs": {"dtype": "float32"}})
    ]
    assert {name: os.environ[name] for name in library.BEFORE_IMPORT} == library.BEFORE_IMPORT
    assert (there.max_seq_length, there.cpu_threads, model.batch_tokens) == (64, 3, CPU_TOKENS)
    assert len(there.calls) == 1
    await model.close()


@pytest.mark.parametrize(
    ("device", "dtype", "cards", "where", "numbers"),
    [
        ("auto", "auto", 0, "cpu", "float32"),
        ("auto", "auto", 2, "cuda", "float16"),
        ("cuda:1", "auto", 2, "cuda:1", "float16"),
        ("cuda", "bfloat16", 1, "cuda", "bfloat16"),
        ("cpu", "auto", 1, "cpu", "float32"),
    ],
)
async def test_device_and_numbers(
    there: Library, model_folder: Make, device: str, dtype: str, cards: int, where: str, numbers: str
) -> None:
    there.cards = cards
    model = loaded(model_folder(), device=device, dtype=dtype)
    ((_, options),) = there.loads
    assert (options["device"], options["model_kwargs"]["dtype"]) == (where, numbers)
    assert model.batch_tokens == (CPU_TOKENS if where == "cpu" else GPU_TOKENS)
    await model.close()
    model = loaded(model_folder(), device=device, batch_tokens=300)
    assert model.batch_tokens == 300
    await model.close()


@pytest.mark.parametrize(("device", "cards"), [("cuda", 0), ("cuda:2", 2), ("mps", 1)])
def test_a_device_that_is_not_there_is_a_reason(there: Library, model_folder: Make, device: str, cards: int) -> None:
    there.cards = cards
    with pytest.raises(ModelMissing, match=f"device {device};"):
        loaded(model_folder(), device=device)


async def test_each_role_has_its_prompt_and_each_lane_its_thread(there: Library, model_folder: Make) -> None:
    metrics = Metrics()
    model = loaded(model_folder(PROMPTS), metrics, batch_wait_ms=50)
    there.calls.clear()
    there.threads.clear()
    for role in Role:
        await model.embed(["the cat"], role=role)
        await model.embed(["the cat"], lane=Lane.INTERACTIVE, role=role)
        await model.embed(["cat " * SHORT_CHARACTERS], lane=Lane.INTERACTIVE, role=role)
    assert [prompt for _, prompt in there.calls] == [prompt for prompt in ("query: ", "the ") for _ in range(3)]
    assert {name.rpartition("_")[0] for name in there.threads} == {"embed", "embed-query"}
    # One batch with both prompts is two calls, and every text gets its own vector.
    ours = await model.embed(["cat", "the cat"], role=Role.QUERY)
    mixed = await asyncio.gather(model.embed(["cat", "the cat"], role=Role.QUERY), model.embed(["the cat sat"]))
    assert np.allclose(mixed[0], ours)
    assert not np.allclose(mixed[1][0], ours[1])
    assert there.most_inside == 1
    # With prompt and special tokens: "query: the cat" is 6 tokens, "the the cat" 5, and the long ones are cut to 64.
    assert metrics.registry.get_sample_value("eunoe_embed_tokens_total", {"lane": "interactive"}) == 6 + 64 + 5 + 64
    await model.close()


async def test_full_memory_halves_the_batches_and_loses_nothing(
    there: Library, model_folder: Make, caplog: pytest.LogCaptureFixture
) -> None:
    model = loaded(model_folder(), batch_tokens=640, batch_wait_ms=0)
    texts = ["cat " * (1 + number % 10) for number in range(40)]
    expected = await model.embed(texts)
    there.holds, there.freed = 120, 0
    assert np.array_equal(await model.embed(texts), expected)
    assert there.freed >= 2
    assert 1 <= model.batch_tokens < 640
    assert "the memory of cpu was full" in caplog.text
    assert "document" not in caplog.text
    freed = there.freed
    assert np.array_equal(await model.embed(texts), expected)
    assert there.freed == freed  # what was learnt is kept
    there.holds = 3
    with pytest.raises(ModelUnavailable, match="one text of 4 tokens"):
        await model.embed(["cats"])
    await model.close()


async def test_vectors_are_float32_of_unit_length_whatever_the_model_computes_with(there: Library, model_folder: Make) -> None:
    there.dtype = np.float16
    model = loaded(model_folder())
    vectors = await model.embed(["the", "", "the cat \ud800", "x" * 90_000])
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert {"", "the", "the cat ?", "x" * 64 * 64} == {text for call, _ in there.calls[1:] for text in call}
    assert (await model.embed([])).shape == (0, 4)
    await model.close()


async def test_a_text_of_another_type_stays_a_text(there: Library, model_folder: Make) -> None:
    class Name(str):
        __slots__ = ()

    model = loaded(model_folder())
    await model.embed([Name("the cat")])
    await model.close()


@pytest.mark.parametrize(
    ("change", "said"),
    [({"width": 3}, "not of 4 numbers"), ({"value": float("nan")}, "not finite"), ({"holds": 1}, "does not hold one text")],
)
def test_a_model_that_does_not_do_what_its_folder_says_is_refused(
    there: Library, model_folder: Make, change: dict[str, Any], said: str
) -> None:
    for name, value in change.items():
        setattr(there, name, value)
    with pytest.raises(ModelMissing, match=said):
        loaded(model_folder())


async def test_what_the_library_raises_becomes_ours_without_its_words(there: Library, model_folder: Make) -> None:
    model = loaded(model_folder())
    there.error = ValueError("text of a document")
    for lane in Lane:
        with pytest.raises(ModelUnavailable, match=r"\(ValueError\)") as caught:
            await model.embed(["the cat"], lane=lane)
        assert "document" not in str(caught.value)
    there.error = None
    assert len(await model.embed(["the cat"])) == 1
    await model.close()
    await model.close()
    with pytest.raises(ModelUnavailable, match="closed"):
        await model.embed(["the cat"])


def test_a_folder_that_the_library_refuses_is_a_reason(there: Library, model_folder: Make) -> None:
    there.error = OSError("no such thing")
    answer = load_embedder(ModelSettings(backend="sentence-transformers", folder=model_folder()))
    assert answer.model is None
    assert "cannot be loaded on cpu (OSError)" in answer.reason


@pytest.mark.parametrize("missing", ["torch", "sentence_transformers"])
def test_a_missing_library_is_a_reason_that_names_the_extra(
    there: Library, model_folder: Make, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    answer = load_embedder(ModelSettings(backend="sentence-transformers", folder=model_folder()))
    assert answer.model is None
    assert f"{missing} cannot be imported" in answer.reason
    assert "eunoe[sentence-transformers]" in answer.reason

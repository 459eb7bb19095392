"""How many short texts a second become searchable, against what the embedder alone could do with the same texts?

A real `eunoe serve`; eight clients post turns of conversations of about 40 tokens over gRPC or HTTP. "Rate" is from the first post to
the moment when the server has ended the last document (read back from every store). Then, in the same round, the model alone embeds the
contextual texts that the pipeline made of the same documents, in the process of this script, with the settings of the server.
Without a model: the same without the comparison. Accept times are the clients'.

    .venv/bin/python bench/ingest_rate.py [--quick] [--json] [--rounds N] [--texts N]
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from eunoe_contracts.content import Kind
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_models.artifacts import load_embedder
from eunoe_models.config import ModelSettings
from eunoe_standalone.data_directory import open_data_directory
from eunoe_standalone.testing import serving
from eunoe_stores.catalogue.rows import DocumentQuery, Page
from eunoe_telemetry.clock import RandomIds, SystemClock
from filling import turn_bodies
from load import Door, Posted, counted, ingest
from measure import Report, options, percentile, ratios

PAGE = 500


async def contexts(data_dir: Path) -> list[str]:
    """What the pipeline embedded."""
    found: list[str] = []
    async with open_data_directory(data_dir, clock=SystemClock(), ids=RandomIds()) as stores:
        offset, total = 0, 1
        while offset < total:
            rows, total = await stores.catalogue.list_documents(DEFAULT_TENANT, DocumentQuery(), Page(PAGE, offset))
            for row in rows:
                units = await stores.catalogue.units(DEFAULT_TENANT, row.id, row.generation, kinds=frozenset({Kind.PASSAGE}))
                found += [unit.context for unit in units]
            offset += PAGE
    return found


async def bare(texts: list[str]) -> tuple[float, float]:
    """Texts a second of the model alone, and their mean length in tokens."""
    loaded = load_embedder(ModelSettings())
    if loaded.model is None:
        raise SystemExit(loaded.reason)
    await loaded.model.embed(texts[:32])
    started = time.perf_counter()
    await loaded.model.embed(texts)
    rate = len(texts) / (time.perf_counter() - started)
    tokens = sum(loaded.counter.count(text) for text in texts) / len(texts)
    await loaded.close()
    return rate, tokens


def main() -> None:
    """Measure both doors, with and without the model."""
    parser = options(__doc__)
    parser.add_argument("--texts", type=int, default=0, help="documents of one round")
    given = parser.parse_args()
    count = given.texts or (100 if given.quick else 1_000)
    report = Report(f"{count:,} short texts, 8 clients, accepted to searchable")
    rates: dict[tuple[str, Door], list[float]] = {}
    accepts: dict[tuple[str, Door], list[Posted]] = {}
    alone: list[float] = []
    lengths: list[float] = []
    batches: list[float] = []
    doors: tuple[Door, ...] = ("grpc", "http")
    for number in range(given.rounds):
        bodies = turn_bodies(count, seed=number)
        for model in ("minilm", "none"):
            for door in doors:
                with tempfile.TemporaryDirectory() as folder:
                    data_dir = Path(folder) / "data"
                    with serving(data_dir, {"EUNOE_MODELS__PROFILE": model}) as server:
                        ingest(server.running, turn_bodies(20, seed=1000 + number), door=door)
                        posted = ingest(server.running, bodies, door=door)
                        if model == "minilm" and door == "grpc":
                            batches.append(
                                counted(server.running, "embed_batch_size_sum") / counted(server.running, "embed_batch_size_count")
                            )
                    if model == "minilm" and door == "grpc":
                        rate, tokens = asyncio.run(bare(asyncio.run(contexts(data_dir))))
                        alone.append(rate)
                        lengths.append(tokens)
                rates.setdefault((model, door), []).append(count / posted.total_s)
                accepts.setdefault((model, door), []).append(posted)
    for (model, door), values in rates.items():
        name = "with model" if model == "minilm" else "without model"
        report.add(f"{name}, {door}", values, "docs/s")
        for share in (0.5, 0.99):
            each = [1000 * percentile(posted.accepts, share) for posted in accepts[model, door]]
            report.add(f"{name}, {door}, accept p{100 * share:.0f}", each, "ms")
    report.add("the model alone on the same contextual texts", alone, "texts/s")
    for door in doors:
        report.add(f"ratio pipeline to model alone, {door}", ratios(rates["minilm", door], alone))
    report.add("mean tokens of a contextual text", lengths)
    report.add("mean texts in a call of the model", batches)
    report.print(as_json=given.json)


if __name__ == "__main__":
    main()

"""Does a document cost more when there are many already? Inserts into the index, and its searches, from 1,000 to 100,000 passages.

The index alone (`SqliteVectorIndex`), filled to each size; there a block of forty documents of fifty passages is inserted and timed,
with the index loaded in memory as in a server that is asked: enough that each block has its share of the merges of FTS5. In the same
round as each block a small index of 1,000 passages gets the same number of documents, so that other load on the machine hits both: the
ratio is what counts. Processor time is reported as well. Searches (dense and both BM25 arms) look at all vectors, so their time grows
with the size; it is shown beside.

    .venv/bin/python bench/growth.py [--quick] [--json] [--rounds N]
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

import numpy as np
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_models.embedding.profiles import PROFILES
from eunoe_stores.analyser import analyse_query
from eunoe_stores.sqlite.connections import FRUGAL
from eunoe_stores.sqlite.database import SqliteDatabase
from eunoe_stores.vectors.port import IndexFilter, IndexRow
from eunoe_stores.vectors.sqlite import SqliteVectorIndex
from filling import PER_DOCUMENT, Texts, index_rows
from measure import Report, options, ratios

SMALL = 1_000
DOCUMENTS = 40
QUERIES = 20
CANDIDATES = 100


def rows(texts: Texts, count: int, first: int) -> list[IndexRow]:
    """Made before the clock starts."""
    return list(index_rows(count, texts=texts, seed=first, first=first))


async def inserted(index: SqliteVectorIndex, block: list[IndexRow]) -> tuple[float, float]:
    """Milliseconds, and of processor time, of one document."""
    wall, busy = time.perf_counter(), time.process_time()
    for at in range(0, len(block), PER_DOCUMENT):
        await index.upsert(DEFAULT_TENANT, block[at : at + PER_DOCUMENT])
    documents = len(block) / PER_DOCUMENT
    return 1000 * (time.perf_counter() - wall) / documents, 1000 * (time.process_time() - busy) / documents


async def searched(index: SqliteVectorIndex) -> float:
    """Milliseconds of one query's three arms. Always the same queries: a row costs more where more of its terms were asked for."""
    vector = np.ones(PROFILES["minilm"].dimensions, dtype=np.float32)
    queries = Texts(99).queries(QUERIES)
    started = time.perf_counter()
    for query in queries:
        tokens, where = analyse_query(query), IndexFilter()
        await asyncio.gather(
            index.dense(DEFAULT_TENANT, vector, where, CANDIDATES),
            index.bm25_body(DEFAULT_TENANT, tokens, where, CANDIDATES),
            index.bm25_context(DEFAULT_TENANT, tokens, where, CANDIDATES),
        )
    return 1000 * (time.perf_counter() - started) / QUERIES


async def measure(folder: Path, sizes: list[int], rounds: int, report: Report) -> None:
    """Fill step by step."""
    texts, small, big = Texts(), await _opened(folder / "small"), await _opened(folder / "big")
    await small.upsert(DEFAULT_TENANT, rows(texts, SMALL, 0))
    filled = small_filled = 0
    block = DOCUMENTS * PER_DOCUMENT
    for size in sizes:
        for first in range(filled, size, block):
            await big.upsert(DEFAULT_TENANT, rows(texts, min(block, size - first), first))
        filled = size
        await searched(big)
        walls: dict[str, list[float]] = {"big": [], "small": []}
        busy: dict[str, list[float]] = {"big": [], "small": []}
        for number in range(rounds):
            await searched(small)  # once the removed rows are dropped, no term is in memory
            for name, index in (("small", small), ("big", big))[:: -1 if number % 2 else 1]:
                start = 1_000_000 + small_filled if name == "small" else filled
                wall, processor = await inserted(index, rows(texts, block, start))
                walls[name].append(wall)
                busy[name].append(processor)
                if name == "small":
                    await small.delete_rows(DEFAULT_TENANT, [row.key for row in rows(texts, block, start)])
                    small_filled += block
                else:
                    filled += block
        report.add(f"{size:>7,} passages: insert a document of {PER_DOCUMENT}", walls["big"], "ms")
        report.add(f"{size:>7,} passages: to the small index, time", ratios(walls["big"], walls["small"]))
        report.add(f"{size:>7,} passages: to the small index, processor time", ratios(busy["big"], busy["small"]))
        report.add(f"{size:>7,} passages: three arms of a search", [await searched(big) for _ in range(rounds)], "ms")
    await small.close()
    await big.close()


async def _opened(folder: Path) -> SqliteVectorIndex:
    index = SqliteVectorIndex(SqliteDatabase(folder / "index.db", synchronous="NORMAL", memory=FRUGAL))
    await index.prepare()
    return index


def main() -> None:
    """Measure and print."""
    given = options(__doc__, rounds=5).parse_args()
    sizes = [1_000, 3_000] if given.quick else [1_000, 10_000, 50_000, 100_000]
    report = Report("Cost of a document by the size of the index")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), sizes, given.rounds, report))
    report.print(as_json=given.json)


if __name__ == "__main__":
    main()

"""Speed, as ratios of processor times within one run: what slows the machine slows both sides. Small sizes, medians of several."""

from __future__ import annotations

import asyncio
import resource
import statistics
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import growth
import numpy as np
import pdf_rate
import pytest
from embedder_rate import PackagedSession
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_models.artifacts.cache import is_intact, model_dir
from eunoe_models.config import ModelSettings
from eunoe_models.embedding.session import OnnxSession
from eunoe_stores.analyser import analyse_query
from eunoe_stores.vectors.port import IndexFilter
from filling import Texts, index_rows

BASELINE = tomllib.loads((Path(__file__).parent / "baseline.toml").read_text(encoding="utf-8"))
ROUNDS = 5
CPUINFO = Path("/proc/cpuinfo")
HAS_VNNI = CPUINFO.is_file() and any(each in CPUINFO.read_text(encoding="utf-8") for each in ("avx512_vnni", "avx_vnni", "amx_int8"))
COMMITTED: dict[str, float] = BASELINE["ratio"] | BASELINE["ratio_with_vnni" if HAS_VNNI else "ratio_without_vnni"]
pytestmark = pytest.mark.alone


def busy(work: Callable[[], object]) -> float:
    """Seconds of processor time of this process, all threads."""
    started = time.process_time()
    work()
    return time.process_time() - started


def busy_child(statement: str) -> float:
    """Seconds of processor time of an interpreter that runs a statement."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def holds(name: str, ours: Callable[[], float], theirs: Callable[[], float]) -> None:
    """The median of theirs / ours, one after the other in each round, is not far below the committed one."""
    found = statistics.median(theirs() / ours() for _ in range(ROUNDS))
    least = COMMITTED[name] * (1 - BASELINE["drop"])
    sys.stdout.write(f"{name}: {found:.3g} (committed {COMMITTED[name]}, least {least:.3g})\n")
    assert found >= least, f"{name} fell to {found:.3g}; {COMMITTED[name]} is committed"


def test_the_fused_graph_against_the_packaged_one() -> None:
    settings = ModelSettings()
    packaged = model_dir("minilm-packaged", settings=settings) / "model.onnx"
    if not packaged.is_file() or not is_intact("minilm", settings=settings):
        sys.stderr.write("\nNOT MEASURED: fused against packaged graph; `eunoe models pull minilm-packaged` fetches the other one\n")
        pytest.skip("NOT MEASURED: the packaged graph is not in the model cache")
    draw = np.random.default_rng(5)
    batch = [draw.integers(1000, 20_000, 120).tolist() for _ in range(4)]
    fused, other = OnnxSession(model_dir("minilm", settings=settings) / "model.onnx", threads=1), PackagedSession(packaged, 1)
    holds("fused_to_packaged_graph", lambda: busy(lambda: fused.vectors(batch)), lambda: busy(lambda: other.vectors(batch)))


@pytest.mark.parametrize(
    ("name", "read", "tables"),
    [
        ("pdf_to_pdfplumber", pdf_rate.bare_pdfplumber, False),
        ("pdf_to_pypdfium2", pdf_rate.bare_pypdfium2, False),
        ("pdf_tables_to_pdfplumber", pdf_rate.bare_pdfplumber, True),
    ],
)
def test_pdf_against_bare_libraries(tmp_path: Path, name: str, read: Callable[[Path], None], tables: bool) -> None:
    path = pdf_rate.generated(tmp_path / "some.pdf", 5 if tables else 4, tables=tables)
    pdf_rate.ours(path)
    read(path)
    repeats = 1 if read is pdf_rate.bare_pdfplumber else 10
    holds(
        name,
        lambda: busy(lambda: [pdf_rate.ours(path) for _ in range(10)]) / 10,
        lambda: busy(lambda: [read(path) for _ in range(repeats)]) / repeats,
    )


async def test_the_bm25_arms_against_a_plain_scan_of_the_vectors(tmp_path: Path) -> None:
    texts, index = Texts(), await growth._opened(tmp_path)
    rows = list(index_rows(4_000, texts=texts))
    await index.upsert(DEFAULT_TENANT, rows)
    queries = [analyse_query(each) for each in texts.queries(30)]
    matrix = np.stack([row.vector for row in rows if row.vector is not None])
    vector, where = matrix[7], IndexFilter()

    async def ask() -> float:
        started = time.process_time()
        for tokens in queries:
            await index.bm25_body(DEFAULT_TENANT, tokens, where, 100)
            await index.bm25_context(DEFAULT_TENANT, tokens, where, 100)
        return time.process_time() - started

    def scan() -> float:
        # Not a product of matrices: the threads of OpenBLAS spin, and their time would be counted.
        return busy(lambda: [np.argsort(np.einsum("ij,j->i", matrix, vector))[-100:] for _ in queries])

    await ask()
    found = []
    for _ in range(ROUNDS):
        theirs = scan()
        found.append(theirs / await ask())
    values = iter(found)
    holds("bm25_to_plain_scan", lambda: 1.0, lambda: next(values))
    await index.close()


async def test_inserting_costs_no_more_when_there_is_much(tmp_path: Path) -> None:
    texts, index = Texts(), await growth._opened(tmp_path)
    await index.upsert(DEFAULT_TENANT, list(index_rows(100, texts=texts)))
    await growth.searched(index)
    blocks = [list(index_rows(250, texts=texts, first=first)) for first in range(1_000, 4_000, 250)]
    costs = [(await growth.inserted(index, block))[1] for block in blocks]
    first, last = iter(costs[1:6]), iter(costs[-5:])
    holds("insert_when_full_to_when_empty", lambda: next(last), lambda: next(first))
    await index.close()


@pytest.mark.parametrize(
    ("name", "statement", "libraries"),
    [
        ("command_import_to_its_libraries", "import eunoe_standalone.cli.app", "import typer, grpc"),
        ("server_import_to_its_libraries", "import eunoe_standalone.server", "import sqlalchemy, fastapi, numpy, grpc"),
    ],
)
async def test_start_against_its_libraries(name: str, statement: str, libraries: str) -> None:
    await asyncio.to_thread(holds, name, lambda: busy_child(statement), lambda: busy_child(libraries))

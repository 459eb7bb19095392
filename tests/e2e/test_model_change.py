"""Vectors of two models are never mixed: a changed model is refused at start, with advice that helps."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from eunoe_contracts.content import Kind
from eunoe_models.artifacts import is_ready
from eunoe_models.config import ModelSettings
from eunoe_stores.sqlite.database import SqliteDatabase
from eunoe_stores.vectors.port import IndexRow
from eunoe_stores.vectors.sqlite import SqliteVectorIndex

EUNOE = str(Path(sys.executable).parent / "eunoe")


async def write_index_of_another_model(path: Path) -> None:
    """An index.db as a server with another embedder would have left it."""
    vectors = SqliteVectorIndex(SqliteDatabase(path, synchronous="NORMAL"))
    await vectors.bind_model("another-model-3", 8)
    vector = np.full(8, 8**-0.5, np.float32)
    document = uuid4()
    row = IndexRow(uuid4(), uuid4(), document, 1, "c", Kind.PASSAGE, "old words", "old words", vector, document, 0)
    await vectors.upsert("default", [row])
    await vectors.close()


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([EUNOE, *words], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.slow
def test_a_changed_model_is_refused_and_a_rebuild_helps(tmp_path: Path) -> None:
    if not is_ready("minilm", settings=ModelSettings()):
        pytest.skip("the model cache is empty: run `eunoe models pull minilm`")
    data_dir = str(tmp_path)
    asyncio.run(write_index_of_another_model(tmp_path / "index.db"))
    refused = run("serve", "--data-dir", data_dir, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0")
    assert refused.returncode == 3
    assert "another embedding model" in refused.stderr
    assert "eunoe doctor --rebuild" in refused.stderr
    assert run("doctor", "--rebuild", "--data-dir", data_dir).returncode == 0
    assert run("status", "--data-dir", data_dir).returncode == 0

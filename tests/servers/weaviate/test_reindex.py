"""`eunoe admin reindex`: another model takes the index over while it is searched and written."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from eunoe_contracts.content import Unit
from eunoe_contracts.errors import ModelMismatch, ModelUnavailable
from eunoe_embedder.indexing import index_memories, index_units
from eunoe_models.artifacts import is_ready
from eunoe_models.config import ModelSettings
from eunoe_models.embedding.port import Lane, Role, Vectors
from eunoe_models.embedding.profiles import MINILM
from eunoe_models.testing import HashingEmbedder
from eunoe_standalone.reindex import reindex
from eunoe_stores.catalogue.migration import migrate
from eunoe_stores.catalogue.rows import DocumentRow
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import NOON, TENANT, accept, memory, new_document, open_memory_catalogue, passage
from eunoe_stores.vectors.port import IndexFilter
from eunoe_stores.vectors.weaviate import open_weaviate
from eunoe_stores.vectors.weaviate.config import WeaviateSettings
from eunoe_stores.vectors.weaviate.index import WeaviateVectorIndex
from servers.fixtures import Servers

pytestmark = pytest.mark.servers
PASSAGES = 450
OLD, NEW = HashingEmbedder(dimensions=8, model_id="old"), HashingEmbedder(dimensions=16, model_id="new")


class Interrupted(HashingEmbedder):
    """The new model, in a process that ends after one block of rows."""

    def __init__(self) -> None:
        super().__init__(dimensions=16, model_id="new")

    async def embed(self, texts: Sequence[str], *, lane: Lane = Lane.BULK, role: Role = Role.PASSAGE) -> Vectors:
        self.failing = bool(self.calls)
        return await super().embed(texts, lane=lane, role=role)


@pytest.fixture
async def catalogue(tmp_path: Path) -> AsyncIterator[SqlCatalogue]:
    async with open_memory_catalogue(tmp_path) as opened:
        yield opened


async def ingested(catalogue: SqlCatalogue, index: WeaviateVectorIndex, name: str, texts: Sequence[str]) -> tuple[DocumentRow, list[Unit]]:
    """A document with these passages and one memory, in the catalogue and in the index."""
    row = (await accept(catalogue, new_document(name))).document
    units = [passage(row.id, number, text=text) for number, text in enumerate(texts)]
    await catalogue.put_units(TENANT, row.id, 1, units, title=name, now=NOON)
    memories = await catalogue.put_memories(TENANT, row.id, 1, [memory(row.id, f"{name} is kept.")], now=NOON)
    await index_units(row, units, vectors=index, model=OLD)
    await index_memories(row, memories, vectors=index, model=OLD)
    return row, units


async def found(index: WeaviateVectorIndex, model: HashingEmbedder, text: str) -> str:
    """The text's own row, when it is the best one by its vector."""
    (vector,) = await model.embed([text])
    (best,) = await index.dense(TENANT, vector, IndexFilter(), 1)
    return str((await index.refs(TENANT, [best.key]))[best.key].public_id)


async def test_a_new_model_takes_the_index_over(catalogue: SqlCatalogue, index: WeaviateVectorIndex, settings: WeaviateSettings) -> None:
    await index.bind_model("old", 8)
    _, units = await ingested(catalogue, index, "a.md", [f"Report {number} of ship{number}." for number in range(PASSAGES)])
    with pytest.raises(ModelMismatch, match="eunoe admin reindex"):
        await index.bind_model("new", 16)

    interrupted, told = Interrupted(), []
    with pytest.raises(ModelUnavailable):
        await reindex(settings, catalogue=catalogue, model=interrupted, tell=told.append)
    (_, first), model = interrupted.calls[0], HashingEmbedder(dimensions=16, model_id="new")
    prepared = await reindex(settings, catalogue=catalogue, model=model, switch=False, tell=told.append)
    assert sum(count for _, count in model.calls) == PASSAGES + 1 - first, "what was embedded before the interruption is there"
    assert (prepared.generation, prepared.current, prepared.is_switched, prepared.is_settled) == (2, 1, False, True)
    assert await index.bound_model() == "old"
    await index.flush()
    text = units[7].context
    assert await found(index, OLD, text) == str(units[7].id), "the old one is searched all the time"

    _, late = await ingested(catalogue, index, "late.md", ["It came in between."])
    switched = await reindex(settings, catalogue=catalogue, model=model, tell=told.append)
    assert (switched.copied, switched.current, switched.others) == (2, 2, [1])
    _, later = await ingested(catalogue, index, "later.md", ["A process of before wrote this after the switch."])
    async with open_weaviate(settings) as new:
        await new.bind_model("new", 16)
        assert await new.count(TENANT) == PASSAGES + 3
        dropped = await reindex(settings, catalogue=catalogue, model=model, drop=True, tell=told.append)
        assert (dropped.copied, dropped.dropped, dropped.others) == (2, [1], [])
        for unit in (units[7], late[0], later[0]):
            assert await new.missing(TENANT, [*(await new.keys_of(TENANT, [unit.id]))[unit.id]], with_vectors=True) == []
            assert await found(new, NEW, unit.context) == str(unit.id)
        nothing = await reindex(settings, catalogue=catalogue, model=model, drop=True, tell=told.append)
        assert (nothing.copied, nothing.dropped, nothing.is_switched) == (0, [], True)
    assert any("rows copied or removed in this pass" in line for line in told)


async def test_the_command(servers: Servers, settings: WeaviateSettings, tmp_path: Path) -> None:
    """With the real model, and the texts on PostgreSQL."""
    from eunoe_stores.postgres import open_postgres
    from eunoe_stores.postgres.testing import fresh_schema, settings_of

    if not is_ready("minilm", settings=ModelSettings()):
        pytest.skip("the model cache is empty: run `eunoe models pull minilm`")
    variables = servers["postgres"].settings()
    with fresh_schema(settings_of(variables)) as of_schema:
        environment = {**os.environ, **servers["weaviate"].settings(), **variables}
        environment |= {"EUNOE_POSTGRES__SEARCH_PATH": of_schema.search_path, "EUNOE_WEAVIATE__COLLECTION": settings.collection}

        async def command(*words: str) -> dict[str, object]:
            whole = [str(Path(sys.executable).with_name("eunoe")), "admin", "reindex", "--json", *words]
            done = await asyncio.to_thread(
                subprocess.run, whole, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=90, check=False
            )
            assert done.returncode == 0, done.stderr
            answer: dict[str, object] = json.loads(done.stdout)
            return answer

        async with open_postgres(of_schema) as database, open_weaviate(settings) as index:
            try:
                await migrate(database)
                await index.bind_model("old", 8)
                await ingested(SqlCatalogue(database), index, "a.md", ["The kettle sings at noon.", "The meadow is green."])
                first = await command()
                assert first == {
                    "model": MINILM.model_id, "generation": 2, "current": 2, "copied": 3, "is_settled": True, "is_switched": True,
                    "dropped": [], "others": [1],
                }  # fmt: skip
                last = await command("--drop")
                assert (last["copied"], last["dropped"], last["others"]) == (0, [1], [])
                async with open_weaviate(settings) as new:
                    assert (await new.bound_model(), await new.count(TENANT), await new.without_vectors(TENANT)) == (MINILM.model_id, 3, 0)
            finally:
                with suppress(Exception):
                    await index.generations.clear()

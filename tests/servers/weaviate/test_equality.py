"""The same corpus in SQLite and in Weaviate gives the same answers: the modes share one fusion, so their arms must agree."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import NAMESPACE_OID, UUID, uuid5

import numpy as np
import pytest
from eunoe_contracts.content import Kind
from eunoe_stores.analyser import analyse_query
from eunoe_stores.sqlite.database import SqliteDatabase
from eunoe_stores.vectors.port import IndexFilter, IndexRow, Scored
from eunoe_stores.vectors.sqlite import SqliteVectorIndex
from eunoe_stores.vectors.weaviate.config import WeaviateSettings
from eunoe_stores.vectors.weaviate.index import WeaviateVectorIndex
from eunoe_stores.vectors.weaviate.testing import temporary_index

pytestmark = pytest.mark.servers
ROWS, WORDS, DIMENSIONS, QUERIES = 600, 3_000, 64, 25
START = datetime(2024, 1, 1, tzinfo=UTC)
FILTERS = (
    IndexFilter(),
    IndexFilter(latest_only=False),
    IndexFilter(containers=("team.a", "team.b.*")),
    IndexFilter(kinds=frozenset({Kind.FACT}), since=START + timedelta(days=100)),
)
Pair = tuple[SqliteVectorIndex, WeaviateVectorIndex]


def corpus(seed: int) -> list[IndexRow]:
    """Words as frequent as in a language (the n-th one by 1/n); some in most of the rows, most in a few."""
    draw = random.Random(seed)
    words = [f"w{number:x}q" for number in range(WORDS)]
    weights = [1 / (rank + 1) for rank in range(WORDS)]
    vectors = np.random.default_rng(seed).normal(size=(ROWS, DIMENSIONS)).astype(np.float32)
    rows = []
    for number in range(ROWS):
        body = " ".join(draw.choices(words, weights, k=draw.randint(3, 80)))
        rows.append(
            IndexRow(
                key=UUID(int=draw.getrandbits(128)),
                public_id=UUID(int=number),
                document=UUID(int=number // 10),
                generation=1,
                container=draw.choice(["team.a", "team.b", "team.b.c", "other"]),
                kind=draw.choice([Kind.PASSAGE, Kind.PASSAGE, Kind.FACT]),
                body=body,
                context=" ".join(draw.choices(words, weights, k=10)) + "\n" + body,
                vector=vectors[number],
                parent=uuid5(NAMESPACE_OID, str(number // draw.choice([3, 7]))),
                position=number,
                created_at=START + timedelta(days=number % 200),
                is_latest=draw.random() < 0.9,
            )
        )
    return rows


@pytest.fixture
async def pair(settings: WeaviateSettings, tmp_path: Path) -> AsyncIterator[Pair]:
    local = SqliteVectorIndex(SqliteDatabase(tmp_path / "index.db", synchronous="NORMAL"))
    async with temporary_index(settings.model_copy(update={"parent_rows": 5_000})) as served:
        yield local, served
    await local.close()


def queries(rows: Sequence[IndexRow]) -> list[tuple[list[str], np.ndarray, IndexFilter]]:
    draw = random.Random(7)
    made = []
    for number in range(QUERIES):
        row = draw.choice(rows)
        tokens = [*analyse_query(" ".join(draw.choices(row.context.split(), k=draw.randint(1, 6)))), "unknownword"]
        vector = np.asarray(row.vector) + np.random.default_rng(number).normal(size=DIMENSIONS).astype(np.float32)
        made.append((tokens, vector, FILTERS[number % len(FILTERS)]))
    return made


def same(local: Sequence[Scored], served: Sequence[Scored]) -> None:
    """The same rows in the same order; scores of rows that stand at different places must be equal within rounding."""
    assert [each.score for each in served] == pytest.approx([each.score for each in local], rel=0.01)
    assert {each.key: each.score for each in served} == pytest.approx({each.key: each.score for each in local}, rel=0.01)


async def compared(pair: Pair, rows: Sequence[IndexRow]) -> None:
    local, served = pair
    await served.flush()
    for tokens, vector, where in queries(rows):
        same(await local.bm25_body("t", tokens, where, 10), await served.bm25_body("t", tokens, where, 10))
        same(await local.bm25_context("t", tokens, where, 10), await served.bm25_context("t", tokens, where, 10))
        near, far = await local.dense("t", vector, where, 10), await served.dense("t", vector, where, 10)
        assert len({each.key for each in near} & {each.key for each in far}) >= min(9, len(near))
        assert [each.score for each in far] == pytest.approx([each.score for each in near], abs=0.005)
        parents = await local.bm25_parent("t", tokens, where, 20)
        assert await served.bm25_parent("t", tokens, where, 20) == pytest.approx(parents, rel=0.01)
        keys = [each.key for each in far]
        assert await served.coverage("t", tokens, keys) == pytest.approx(await local.coverage("t", tokens, keys), rel=1e-6)
        assert (await served.holding("t", tokens, keys) == await local.holding("t", tokens, keys)).all()
        assert await served.cosines("t", vector, keys) == pytest.approx(await local.cosines("t", vector, keys), abs=0.005)
        assert await served.refs("t", keys) == await local.refs("t", keys)


async def test_one_corpus_gives_the_same_lists(pair: Pair) -> None:
    rows = corpus(1)
    for index in pair:
        await index.upsert("t", rows)
        await index.upsert("other", rows[:50])
    await compared(pair, rows)


async def test_also_after_changes_and_removals(pair: Pair) -> None:
    rows = corpus(2)
    changed = [
        replace(row, body=other.body, context=other.context, vector=other.vector)
        for row, other in zip(rows[:300], reversed(rows), strict=False)
    ]
    for index in pair:
        for _ in range(3):
            await index.upsert("t", rows[:300])
        await index.upsert("t", rows[300:])
        await index.upsert("t", changed)
        for document in range(20, 40):
            await index.delete_document("t", UUID(int=document), through_generation=1)
        await index.set_latest("t", [row.key for row in rows[::5]], is_latest=False)
    await compared(pair, [*changed[:200], *rows[400:]])
    assert await pair[1].count("t") == await pair[0].count("t")
    assert await pair[1].documents("t") == await pair[0].documents("t")


async def test_parents_of_frequent_words_are_about_the_same(settings: WeaviateSettings, tmp_path: Path) -> None:
    """With a budget of rows that the frequent words exceed by far."""
    local = SqliteVectorIndex(SqliteDatabase(tmp_path / "index.db", synchronous="NORMAL"))
    rows = corpus(3)
    async with temporary_index(settings.model_copy(update={"parent_rows": 100})) as served:
        await local.upsert("t", rows)
        await served.upsert("t", rows)
        shared = []
        for tokens, _, where in queries(rows):
            near, far = [await index.bm25_parent("t", tokens, where, 10) for index in (local, served)]
            shared.append(len(near.keys() & far.keys()) / max(1, len(near)))
    await local.close()
    assert sum(shared) / len(shared) > 0.9

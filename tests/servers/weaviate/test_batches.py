"""Batches of which the server refuses a part."""

from __future__ import annotations

import logging
from dataclasses import replace
from uuid import UUID, uuid4

import numpy as np
import pytest
from eunoe_contracts.content import Kind
from eunoe_contracts.errors import ModelMismatch
from eunoe_stores.vectors.port import IndexFilter, IndexRow
from eunoe_stores.vectors.weaviate.config import WeaviateSettings
from eunoe_stores.vectors.weaviate.index import WeaviateVectorIndex
from eunoe_stores.vectors.weaviate.testing import temporary_index

pytestmark = pytest.mark.servers


def row(body: str, dimensions: int = 0) -> IndexRow:
    return IndexRow(
        key=uuid4(),
        public_id=uuid4(),
        document=UUID(int=1),
        generation=1,
        container="team",
        kind=Kind.PASSAGE,
        body=body,
        context=body,
        vector=np.ones(dimensions, np.float32) if dimensions else None,
        parent=UUID(int=2),
        position=0,
    )


async def test_a_refused_row_is_an_error_and_the_others_are_there(index: WeaviateVectorIndex, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    await index.upsert("t", [row("first", 8)])
    good = [row("secretword") for _ in range(3)]
    bad = row("secretword", 4)
    with pytest.raises(ModelMismatch):
        await index.upsert("t", [*good, bad])
    assert await index.missing("t", [each.key for each in good], with_vectors=False) == []
    assert "secretword" not in caplog.text
    mended = replace(bad, vector=np.ones(8, np.float32))
    await index.upsert("t", [*good, mended])
    assert len(await index.bm25_body("t", ["secretword"], IndexFilter(), 10)) == 4
    assert await index.missing("t", [bad.key], with_vectors=True) == []


async def test_when_all_rows_are_refused(index: WeaviateVectorIndex) -> None:
    await index.upsert("t", [row("first", 8)])
    with pytest.raises(ModelMismatch):
        await index.upsert("t", [row("second", 4)])
    await index.upsert("t", [])


async def test_many_rows_go_in_several_batches(settings: WeaviateSettings) -> None:
    small = settings.model_copy(update={"batch_rows": 7, "batch_bytes": 100_000})
    async with temporary_index(small) as index:
        rows = [row(f"word{number} " + "padding " * 2_000, 8) for number in range(40)]
        await index.upsert("t", rows)
        assert await index.count("t") == 40
        assert await index.delete_rows("t", [each.key for each in rows] * 2) == 40
        assert await index.delete_rows("t", []) == 0


async def test_rows_without_vectors_and_vectors_without_a_direction(index: WeaviateVectorIndex) -> None:
    await index.upsert("bare", [row("zebra")])
    assert await index.dense("bare", np.ones(8, np.float32), IndexFilter(), 5) == []
    assert await index.without_vectors("bare") == 1
    zero, plain = replace(row("zebra"), vector=np.zeros(8, np.float32)), row("zebra", 8)
    await index.upsert("t", [zero, plain])
    assert await index.missing("t", [zero.key, plain.key], with_vectors=True) == []
    found = await index.dense("t", np.ones(8, np.float32), IndexFilter(), 5)
    assert [(each.key, round(each.score, 4)) for each in found] == [(plain.key, 1.0), (zero.key, 0.0)]
    assert await index.cosines("t", np.ones(8, np.float32), [zero.key]) == {zero.key: 0.0}


async def test_words_that_the_server_might_drop_are_kept(index: WeaviateVectorIndex) -> None:
    """Stop words are the analyser's business: it keeps them where a text has no others."""
    band = row("The Who")
    await index.upsert("t", [band, row("zebra")])
    found = await index.bm25_body("t", ["the", "who"], IndexFilter(), 5)
    assert [each.key for each in found] == [band.key]
    assert await index.coverage("t", ["the", "who"], [band.key]) == {band.key: 1.0}

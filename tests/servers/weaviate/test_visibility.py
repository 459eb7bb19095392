"""When what was written is found by its vector: the server indexes vectors in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import UUID, uuid4

import numpy as np
import pytest
from eunoe_contracts.content import Kind
from eunoe_contracts.errors import StoreUnavailable
from eunoe_stores.vectors.port import IndexFilter, IndexRow
from eunoe_stores.vectors.weaviate.config import WeaviateSettings
from eunoe_stores.vectors.weaviate.index import WeaviateVectorIndex
from eunoe_stores.vectors.weaviate.testing import temporary_index

pytestmark = pytest.mark.servers
ALL = IndexFilter(latest_only=False)


def rows(count: int) -> Sequence[IndexRow]:
    vectors = np.random.default_rng(count).normal(size=(count, 16)).astype(np.float32)
    return [
        IndexRow(
            key=uuid4(),
            public_id=uuid4(),
            document=UUID(int=1),
            generation=1,
            container="team",
            kind=Kind.PASSAGE,
            body="zebra",
            context="zebra",
            vector=vector,
            parent=UUID(int=2),
            position=position,
        )
        for position, vector in enumerate(vectors)
    ]


async def test_another_process_sees_by_read_back_what_was_written_here(index: WeaviateVectorIndex, settings: WeaviateSettings) -> None:
    async with temporary_index(settings) as gateway:
        written = rows(30)
        await index.upsert("t", written)
        assert await gateway.missing("t", [row.key for row in written], with_vectors=True) == []
        assert len(await gateway.dense("t", np.ones(16, np.float32), ALL, 50)) == 30


async def test_vectors_appear_while_the_writing_goes_on_without_a_pause(index: WeaviateVectorIndex) -> None:
    first = rows(3)
    await index.upsert("t", first)
    stop = asyncio.Event()

    async def write() -> None:
        while not stop.is_set():
            await index.upsert("t", rows(1))

    writers = [asyncio.create_task(write()) for _ in range(4)]
    try:
        assert await index.missing("t", [row.key for row in first], with_vectors=True) == []
    finally:
        stop.set()
        await asyncio.gather(*writers)


async def test_no_vector_is_lost_to_searches_that_run_meanwhile(index: WeaviateVectorIndex) -> None:
    """With a quantizer, the server takes a vector that a filtered search meets too early for a deleted one."""
    stop = asyncio.Event()

    async def search() -> None:
        while not stop.is_set():
            await index.dense("t", np.ones(16, np.float32), IndexFilter(), 50)

    written = [row for _ in range(8) for row in rows(250)]
    await index.upsert("t", written[:10])
    searches = [asyncio.create_task(search()) for _ in range(3)]
    try:
        await index.upsert("t", written[10:])
        await index.flush()
    finally:
        stop.set()
        await asyncio.gather(*searches)
    assert await index.missing("t", [row.key for row in written], with_vectors=True) == []


async def test_late_is_not_missing(settings: WeaviateSettings) -> None:
    """A row that is stored and not yet indexed must not be written again, which would only make it later still."""
    async with temporary_index(settings.model_copy(update={"visible_s": 0.0})) as index:
        written = rows(200)
        await index.upsert("t", written)
        with pytest.raises(StoreUnavailable):
            await index.missing("t", [row.key for row in written], with_vectors=True)
        with pytest.raises(StoreUnavailable):
            await index.flush()
        unknown = uuid4()
        assert await index.missing("t", [written[0].key, unknown], with_vectors=False) == [unknown]


async def test_a_writer_that_is_too_fast_waits(settings: WeaviateSettings) -> None:
    async with temporary_index(settings.model_copy(update={"unindexed_rows": 100})) as index:
        for _ in range(3):
            await index.upsert("t", rows(90))
            assert index.unindexed <= 100
    async with temporary_index(settings.model_copy(update={"unindexed_rows": 100, "visible_s": 0.0})) as index:
        with pytest.raises(StoreUnavailable, match="slowly"):
            await index.upsert("t", rows(300))


async def test_rows_removed_meanwhile_are_not_waited_for(index: WeaviateVectorIndex) -> None:
    written = rows(20)
    await index.upsert("t", written)
    await index.delete_document("t", UUID(int=1), through_generation=1)
    await index.flush()
    assert index.unindexed == 0

"""Kills, restarts and freezes of the server."""

from __future__ import annotations

import asyncio
import time
from uuid import UUID, uuid4

import numpy as np
import pytest
from eunoe_contracts.content import Kind
from eunoe_contracts.errors import StoreUnavailable
from eunoe_stores.vectors.port import IndexFilter, IndexRow
from eunoe_stores.vectors.weaviate import open_weaviate
from eunoe_stores.vectors.weaviate.config import WeaviateSettings
from eunoe_stores.vectors.weaviate.index import WeaviateVectorIndex
from eunoe_stores.vectors.weaviate.testing import temporary_index
from servers.server import Server

pytestmark = [pytest.mark.servers, pytest.mark.timeout(180)]
DIMENSIONS = 32
ALL = IndexFilter(latest_only=False)


def batch(number: int) -> list[IndexRow]:
    vectors = np.random.default_rng(number).normal(size=(20, DIMENSIONS)).astype(np.float32)
    return [
        IndexRow(
            key=uuid4(),
            public_id=uuid4(),
            document=UUID(int=number),
            generation=1,
            container="team",
            kind=Kind.PASSAGE,
            body=f"common batch{number}",
            context=f"common batch{number}",
            vector=vector,
            parent=UUID(int=number),
            position=position,
        )
        for position, vector in enumerate(vectors)
    ]


async def test_what_was_acknowledged_survives_a_kill(server: Server, settings: WeaviateSettings) -> None:
    patient = settings.model_copy(update={"visible_s": 60.0, "query_timeout_s": 10.0})
    async with temporary_index(patient) as index:
        acknowledged: list[IndexRow] = []
        stop = asyncio.Event()

        async def write(first: int) -> None:
            for number in range(first, first + 1_000):
                rows = batch(number)
                try:
                    await index.upsert("t", rows)
                except StoreUnavailable:
                    return
                acknowledged.extend(rows)
                if len(acknowledged) >= 400:
                    stop.set()

        writers = [asyncio.create_task(write(1_000 * each)) for each in range(3)]
        await asyncio.wait_for(stop.wait(), 60)
        server.kill()
        await asyncio.gather(*writers)
        await asyncio.to_thread(server.start)
        await answering(index)
        keys = [row.key for row in acknowledged]
        assert await index.missing("t", keys, with_vectors=False) == []
        assert await index.missing("t", keys, with_vectors=True) == []
        for number in sorted({row.document.int for row in acknowledged}):
            wanted = {row.key for row in acknowledged if row.document.int == number}
            assert wanted <= {each.key for each in await index.bm25_body("t", [f"batch{number}"], ALL, 100)}


async def test_a_server_that_is_down(server: Server, settings: WeaviateSettings) -> None:
    hasty = settings.model_copy(update={"query_timeout_s": 1.0, "write_timeout_s": 1.0, "connect_timeout_s": 1.0})
    async with temporary_index(hasty) as index:
        await index.upsert("t", batch(1))
        server.kill()
        try:
            await fails_in_time(index)
            with pytest.raises(StoreUnavailable):
                async with open_weaviate(hasty):
                    pass
        finally:
            await asyncio.to_thread(server.start)
        await answering(index)
        assert await index.count("t") == 20


async def test_a_server_that_answers_nothing(server: Server, settings: WeaviateSettings) -> None:
    hasty = settings.model_copy(update={"query_timeout_s": 1.0, "write_timeout_s": 1.0, "connect_timeout_s": 1.0})
    async with temporary_index(hasty) as index:
        await index.upsert("t", batch(1))
        server.freeze()
        try:
            await fails_in_time(index)
            with pytest.raises(StoreUnavailable):
                async with open_weaviate(hasty):
                    pass
        finally:
            server.thaw()
        await answering(index)
        assert await index.count("t") == 20


async def fails_in_time(index: WeaviateVectorIndex) -> None:
    rows = batch(2)
    calls = [
        index.bm25_body("t", ["common"], ALL, 5),
        index.dense("t", np.ones(DIMENSIONS, np.float32), ALL, 5),
        index.upsert("t", rows),
        index.refs("t", [rows[0].key]),
        index.count("t"),
        index.delete_rows("t", [rows[0].key]),
        index.set_latest("t", [rows[0].key], is_latest=False),
    ]
    began = time.monotonic()
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert time.monotonic() - began < 5
    assert [type(each) for each in outcomes] == [StoreUnavailable] * len(calls)


async def answering(index: WeaviateVectorIndex) -> None:
    """The same client finds the server again soon after it is back."""
    deadline = time.monotonic() + 15
    while True:
        try:
            await index.count("t")
        except StoreUnavailable:
            assert time.monotonic() < deadline
        else:
            return

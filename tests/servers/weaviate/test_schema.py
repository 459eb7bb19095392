"""What is refused at the start, and what several processes do that start at once."""

from __future__ import annotations

import asyncio
import json

import pytest
from eunoe_contracts.errors import ConfigurationError, SchemaTooNew, StoreUnavailable
from eunoe_stores.vectors.weaviate import open_weaviate
from eunoe_stores.vectors.weaviate.config import WeaviateSettings
from eunoe_stores.vectors.weaviate.connection import Connection
from eunoe_stores.vectors.weaviate.generations import Generations
from eunoe_stores.vectors.weaviate.index import WeaviateVectorIndex
from servers.ports import free_ports

pytestmark = pytest.mark.servers


@pytest.mark.parametrize(
    ("description", "error"),
    [
        ("somebody else's", ConfigurationError),
        (json.dumps({"schema": 99}), SchemaTooNew),
        (json.dumps({"schema": 1, "analyser": "0"}), ConfigurationError),
    ],
)
async def test_a_collection_that_this_program_cannot_read(
    index: WeaviateVectorIndex, settings: WeaviateSettings, description: str, error: type[Exception]
) -> None:
    connection = Connection(settings)
    await connection.open()
    config = connection.client.collections.use(index.generations.collection(1)).config
    await config.update(description=description)
    with pytest.raises(error):
        async with open_weaviate(settings):
            pass
    await connection.close()


async def test_a_collection_without_a_property(settings: WeaviateSettings) -> None:
    connection = Connection(settings)
    await connection.open()
    generations = Generations(connection)
    await connection.client.collections.create(name=generations.collection(1), description='{"schema": 1, "analyser": "1"}')
    await connection.client.alias.create(alias_name=settings.collection, target_collection=generations.collection(1))
    with pytest.raises(ConfigurationError, match="property body"):
        async with open_weaviate(settings):
            pass
    await generations.clear()
    await connection.close()


async def test_processes_that_start_together_make_one_collection(settings: WeaviateSettings) -> None:
    async def start() -> int:
        async with open_weaviate(settings) as index:
            return index.number

    assert set(await asyncio.gather(*(start() for _ in range(6)))) == {1}
    async with open_weaviate(settings) as index:
        assert [each.number for each in await index.generations.every()] == [1]
        await index.generations.clear()


async def test_nobody_listens(settings: WeaviateSettings) -> None:
    (port,) = free_ports(1)
    with pytest.raises(StoreUnavailable):
        async with open_weaviate(settings.model_copy(update={"http_port": port, "connect_timeout_s": 2.0})):
            pass

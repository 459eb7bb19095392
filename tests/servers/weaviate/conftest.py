"""Indexes on the real server."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from eunoe_stores.vectors.weaviate.config import WeaviateSettings
from eunoe_stores.vectors.weaviate.index import WeaviateVectorIndex
from eunoe_stores.vectors.weaviate.testing import settings_from, temporary_index
from servers.fixtures import Servers
from servers.server import Server


@pytest.fixture
def server(servers: Servers) -> Server:
    return servers["weaviate"]


@pytest.fixture
def settings(server: Server) -> WeaviateSettings:
    return settings_from(server.settings())


@pytest.fixture
async def index(settings: WeaviateSettings) -> AsyncIterator[WeaviateVectorIndex]:
    async with temporary_index(settings) as made:
        yield made

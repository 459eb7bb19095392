"""The distributed VectorIndex, on Weaviate. Needs the extra `weaviate`, which is imported only when an index is opened."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from eunoe_stores.vectors.weaviate.config import WeaviateSettings

if TYPE_CHECKING:
    from eunoe_stores.vectors.weaviate.index import WeaviateVectorIndex

__all__ = ["WeaviateSettings", "open_weaviate"]


@asynccontextmanager
async def open_weaviate(settings: WeaviateSettings) -> AsyncIterator[WeaviateVectorIndex]:
    """Connect, and make or check the collection. Raises `StoreUnavailable`, `ConfigurationError`, `SchemaTooNew`."""
    # Late, so that the settings can be read where the client is not installed.
    from eunoe_stores.vectors.weaviate.connection import Connection
    from eunoe_stores.vectors.weaviate.generations import Generations
    from eunoe_stores.vectors.weaviate.index import WeaviateVectorIndex

    connection = Connection(settings)
    await connection.open()
    try:
        generations = Generations(connection)
        number = await generations.opened(settings.generation)
        yield WeaviateVectorIndex(connection, generations, number, await generations.label(number))
    finally:
        await connection.close()

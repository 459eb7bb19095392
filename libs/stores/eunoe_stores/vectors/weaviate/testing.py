"""An index of its own on a running server, for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from eunoe_stores.vectors.weaviate import WeaviateSettings, open_weaviate

if TYPE_CHECKING:
    from eunoe_stores.vectors.weaviate.index import WeaviateVectorIndex

_PREFIX = "EUNOE_WEAVIATE__"


def settings_from(variables: Mapping[str, str], **changes: Any) -> WeaviateSettings:
    """Settings from environment variables, with a collection that nobody else uses."""
    given = {name.removeprefix(_PREFIX).lower(): value for name, value in variables.items() if name.startswith(_PREFIX)}
    return WeaviateSettings(**{**given, "collection": f"T{uuid4().hex[:16]}", **changes})


@asynccontextmanager
async def temporary_index(settings: WeaviateSettings) -> AsyncIterator[WeaviateVectorIndex]:
    """Open it; afterwards remove all of its generations."""
    async with open_weaviate(settings) as index:
        try:
            yield index
        finally:
            await index.generations.clear()

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import open_memory_catalogue

ADAPTERS: dict[str, Callable[[Path], AbstractAsyncContextManager[SqlCatalogue]]] = {"sqlite": open_memory_catalogue}


@pytest.fixture(params=sorted(ADAPTERS))
async def catalogue(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SqlCatalogue]:
    async with ADAPTERS[request.param](tmp_path) as opened:
        yield opened

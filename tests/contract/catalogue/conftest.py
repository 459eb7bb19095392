from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from eunoe_stores.catalogue.migration import migrate
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.tables import metadata
from eunoe_stores.catalogue.testing import open_memory_catalogue

if TYPE_CHECKING:
    from eunoe_stores.postgres import PostgresSettings
    from servers.fixtures import Servers

Opener = Callable[[], AbstractAsyncContextManager[SqlCatalogue]]
ADAPTERS = ["sqlite", pytest.param("postgres", marks=pytest.mark.servers)]


@pytest.fixture(scope="session")
def postgres_tables(servers: Servers) -> Iterator[PostgresSettings]:
    """Settings that lead to migrated tables, which all tests of this folder share."""
    from eunoe_stores.postgres import open_postgres
    from eunoe_stores.postgres.testing import fresh_schema, settings_of

    async def make(settings: PostgresSettings) -> None:
        async with open_postgres(settings) as database:
            await migrate(database)

    with fresh_schema(settings_of(servers["postgres"].settings())) as settings:
        asyncio.run(make(settings))
        yield settings


@asynccontextmanager
async def _open_emptied(settings: PostgresSettings) -> AsyncIterator[SqlCatalogue]:
    from eunoe_stores.postgres import open_postgres

    async with open_postgres(settings) as database:
        tables = ", ".join(table.name for table in metadata.sorted_tables)
        await database.write(lambda connection: connection.exec_driver_sql(f"TRUNCATE {tables} RESTART IDENTITY").close())
        yield SqlCatalogue(database, watch_interval_s=0.05)


@pytest.fixture(params=ADAPTERS)
def open_catalogue(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Opener:
    """Opens an empty catalogue, each time another one."""
    if request.param == "sqlite":
        return lambda: open_memory_catalogue(tmp_path_factory.mktemp("catalogue"))
    settings = request.getfixturevalue("postgres_tables")
    return lambda: _open_emptied(settings)


@pytest.fixture
async def catalogue(open_catalogue: Opener) -> AsyncIterator[SqlCatalogue]:
    async with open_catalogue() as opened:
        yield opened

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest
from eunoe_stores.catalogue.migration import migrate
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.postgres import PostgresSettings, open_postgres
from eunoe_stores.postgres.database import PostgresDatabase
from eunoe_stores.postgres.testing import fresh_schema, settings_of

if TYPE_CHECKING:
    from servers.fixtures import Servers
    from servers.postgres import Postgres


@pytest.fixture
def server(servers: Servers) -> Iterator[Postgres]:
    """The server, running; a test that stopped it leaves it running, too."""
    server: Postgres = servers["postgres"]  # type: ignore[assignment]  # by its name
    yield server
    server.thaw()
    if server.process is None:
        server.start()


@pytest.fixture
def settings(server: Postgres) -> Iterator[PostgresSettings]:
    """A schema of the test's own."""
    with fresh_schema(settings_of(server.settings())) as found:
        yield found
        server.thaw()
        if server.process is None:
            server.start()


@pytest.fixture
async def database(settings: PostgresSettings) -> AsyncIterator[PostgresDatabase]:
    async with open_postgres(settings) as database:
        yield database


@pytest.fixture
async def clients(settings: PostgresSettings) -> AsyncIterator[list[SqlCatalogue]]:
    """Eight catalogues on one schema, each with connections of its own, as eight processes have."""
    async with AsyncExitStack() as stack:
        databases = [await stack.enter_async_context(open_postgres(settings.model_copy(update={"pool_size": 4}))) for _ in range(8)]
        await migrate(databases[0])
        yield [SqlCatalogue(each, watch_interval_s=0.05) for each in databases]


@pytest.fixture
def catalogue(clients: list[SqlCatalogue]) -> SqlCatalogue:
    return clients[0]

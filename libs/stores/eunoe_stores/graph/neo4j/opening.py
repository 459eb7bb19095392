"""Connect, check the schema, hand out the store, close."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from eunoe_contracts.errors import ConfigurationError, EunoeError

from eunoe_stores.graph.neo4j.config import Neo4jSettings

if TYPE_CHECKING:
    from eunoe_stores.graph.neo4j.store import Neo4jGraphStore

LONGEST_IDLE_S = 60.0
FIRST_PAUSE_S = 0.05


@asynccontextmanager
async def open_neo4j(settings: Neo4jSettings) -> AsyncIterator[Neo4jGraphStore]:
    """A store that is connected and whose schema is there.

    Raises `StoreUnavailable` when the server does not answer, `ConfigurationError` for a refused user, another database or a server that
    is too old, and `SchemaTooNew`.
    """
    # The driver is an extra; the settings are read without it.
    from neo4j import AsyncGraphDatabase, NotificationMinimumSeverity
    from neo4j.exceptions import AuthError, ClientError, Forbidden
    from neo4j.exceptions import ConfigurationError as WrongConfiguration

    from eunoe_stores.graph.neo4j.schema import prepare
    from eunoe_stores.graph.neo4j.store import Neo4jGraphStore
    from eunoe_stores.graph.neo4j.transactions import Transactions

    # At DEBUG the driver logs every parameter, which are the content.
    logging.getLogger("neo4j").setLevel(logging.ERROR)
    try:
        driver = AsyncGraphDatabase.driver(
            settings.uri,
            auth=(settings.user, settings.password.get_secret_value()),
            max_connection_pool_size=settings.pool_size,
            connection_timeout=settings.connect_timeout_s,
            connection_acquisition_timeout=settings.read_timeout_s,
            liveness_check_timeout=LONGEST_IDLE_S,
            max_transaction_retry_time=settings.retry_s,
            initial_retry_delay=FIRST_PAUSE_S,
            notifications_min_severity=NotificationMinimumSeverity.OFF,
            telemetry_disabled=True,
        )
    except (ValueError, WrongConfiguration) as error:
        raise ConfigurationError("EUNOE_NEO4J__URI: not an address that the driver understands") from error
    async with driver:
        transactions = Transactions(driver, settings)
        try:
            await prepare(transactions)
        except EunoeError as error:
            if isinstance(error.__cause__, (AuthError, Forbidden)):
                raise ConfigurationError("EUNOE_NEO4J__USER, EUNOE_NEO4J__PASSWORD: the server does not accept them") from error
            if isinstance(error.__cause__, ClientError) and error.__cause__.code == "Neo.ClientError.Database.DatabaseNotFound":
                raise ConfigurationError(f"EUNOE_NEO4J__DATABASE: there is no {settings.database} on the server") from error
            raise
        yield Neo4jGraphStore(transactions)

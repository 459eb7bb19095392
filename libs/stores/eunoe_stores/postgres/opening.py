"""Connecting: what must be true of a server is looked at once, so that a wrong one is refused at the start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from eunoe_contracts.errors import ConfigurationError, StoreUnavailable
from sqlalchemy import Connection, text

from eunoe_stores.postgres.config import PostgresSettings
from eunoe_stores.postgres.database import PostgresDatabase
from eunoe_stores.postgres.engine import connection_parameters, make_engine

OLDEST = 140_000
FACTS = text(
    "SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding, "
    "current_setting('synchronous_commit') AS synchronous, current_schema() AS schema"
)


@asynccontextmanager
async def open_postgres(settings: PostgresSettings) -> AsyncIterator[PostgresDatabase]:
    """Connect, yield, close. Tables are made by `catalogue.migration.migrate`.

    Raises `ConfigurationError` when the settings or the server cannot be right, `StoreUnavailable` when nobody let us in.
    """
    try:
        parameters = connection_parameters(settings)
    except psycopg.Error:
        raise ConfigurationError(
            "EUNOE_POSTGRES__URL is no connection string; its form is postgresql://user:password@host:port/database"
        ) from None
    await asyncio.to_thread(_knock, parameters)
    database = PostgresDatabase(
        make_engine(parameters, pool_size=settings.pool_size, pool_timeout_s=settings.call_timeout_s),
        threads=settings.pool_size,
        call_timeout_s=settings.call_timeout_s,
        attempts=settings.attempts,
    )
    try:
        await database.read(_look)
        yield database
    finally:
        await database.close()


def _knock(parameters: Mapping[str, Any]) -> None:
    """One connection outside the pool: only here may an error say what libpq says, host and role, since no statement is near."""
    try:
        psycopg.connect(**parameters).close()
    except psycopg.Error as error:
        if error.pgconn is not None and error.pgconn.needs_password:
            raise ConfigurationError("PostgreSQL asks for a password; set EUNOE_POSTGRES__PASSWORD") from None
        raise StoreUnavailable(f"no connection to PostgreSQL: {error}") from None


def _look(connection: Connection) -> None:
    facts = connection.execute(FACTS).one()
    if facts.version < OLDEST:
        raise ConfigurationError(f"PostgreSQL {facts.version // 10_000} is too old; eunoe needs {OLDEST // 10_000} or newer")
    if facts.encoding != "UTF8":
        raise ConfigurationError(f"the database has the encoding {facts.encoding}; eunoe needs UTF8")
    if facts.synchronous == "off":
        raise ConfigurationError("synchronous_commit is off: what eunoe has accepted could be lost by a crash; switch it on for this role")
    if facts.schema is None:
        raise ConfigurationError("the schema of the tables is not there, or the role may not use it; see EUNOE_POSTGRES__SEARCH_PATH")

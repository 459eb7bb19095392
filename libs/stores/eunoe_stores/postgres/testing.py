"""A schema of its own for a test, on a server that others use too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from uuid import uuid4

import psycopg
from psycopg import sql

from eunoe_stores.postgres.config import PostgresSettings
from eunoe_stores.postgres.engine import connection_parameters

PREFIX = "EUNOE_POSTGRES__"


def settings_of(environment: Mapping[str, str]) -> PostgresSettings:
    """Settings from variables that are not set in this process."""
    given = {name.removeprefix(PREFIX).lower(): value for name, value in environment.items() if name.startswith(PREFIX)}
    return PostgresSettings.model_validate(given)


@contextmanager
def fresh_schema(settings: PostgresSettings) -> Iterator[PostgresSettings]:
    """Settings that lead to a new, empty schema, which goes with everything in it at the end."""
    name = f"test_{uuid4().hex}"
    parameters = connection_parameters(settings)
    with psycopg.connect(**parameters, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
    try:
        yield settings.model_copy(update={"search_path": name})
    finally:
        with psycopg.connect(**parameters, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name)))

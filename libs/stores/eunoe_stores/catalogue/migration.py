"""Bring the catalogue's tables to the version of this program, at start."""

from __future__ import annotations

from pathlib import Path

from eunoe_contracts.errors import SchemaTooNew
from sqlalchemy import Connection, column, inspect, select, table

from eunoe_stores.sqlite.port import Database

HEAD = "0002"
"""The newest revision in `migrations/versions`; a test keeps it true."""
KNOWN = frozenset({"0001", "0002"})
VERSION_TABLE = "catalogue_version"

_version = table(VERSION_TABLE, column("version_num"))


async def migrate(database: Database) -> None:
    """Create or upgrade the tables in one transaction. Raises `SchemaTooNew` when a newer program wrote them. May be called again."""
    if await database.read(_revision) != HEAD:
        await database.write(_upgrade)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.execute(select(_version.c.version_num)).scalar()
    if found is not None and found not in KNOWN:
        raise SchemaTooNew(f"the catalogue has schema {found}, this program knows up to {HEAD}; install a newer eunoe")
    return found


def _upgrade(connection: Connection) -> None:
    # Imported here: most starts find the schema up to date, and Alembic takes longer to import than to run.
    from alembic import command
    from alembic.config import Config

    if _revision(connection) == HEAD:  # another process was faster
        return
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    config.attributes["version_table"] = VERSION_TABLE
    command.upgrade(config, "head")

"""Bring the catalogue's tables to the version of this program, at start."""

from __future__ import annotations

from pathlib import Path

from eunoe_contracts.errors import ConfigurationError, SchemaTooNew
from sqlalchemy import Connection, column, inspect, select, table, text

from eunoe_stores.sqlite.port import Database

HEAD = "0005"
"""The newest revision in `migrations/versions`; a test keeps it true."""
KNOWN = frozenset({"0001", "0002", "0003", "0004", "0005"})
VERSION_TABLE = "catalogue_version"

_version = table(VERSION_TABLE, column("version_num"))
_ONE_AT_A_TIME = text("SELECT pg_advisory_xact_lock(hashtext('eunoe'), hashtext(current_schema()))")
_WITHOUT_HURRY = text("SELECT set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true)")
_MAY_CREATE = text("SELECT has_schema_privilege(current_schema(), 'CREATE')")


async def migrate(database: Database) -> None:
    """Create or upgrade the tables in one transaction. May be called again, and by several processes at the same time.

    Raises `SchemaTooNew` when a newer program wrote them, `ConfigurationError` when there is something to do and the role may not do it.
    """
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

    if connection.dialect.name != "sqlite":
        connection.execute(_WITHOUT_HURRY).close()
        connection.execute(_ONE_AT_A_TIME).close()
    found = _revision(connection)
    if found == HEAD:  # another process was faster
        return
    if connection.dialect.name != "sqlite" and not connection.execute(_MAY_CREATE).scalar():
        raise ConfigurationError(
            f"the catalogue has schema {found or 'none'}, this program needs {HEAD}, and its role may not change it; "
            "run `eunoe admin provision` with the role that owns the tables"
        )
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    config.attributes["version_table"] = VERSION_TABLE
    command.upgrade(config, "head")

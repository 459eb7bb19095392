from __future__ import annotations

import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from eunoe_contracts.errors import SchemaTooNew
from eunoe_stores.catalogue import migration
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.tables import metadata
from eunoe_stores.catalogue.testing import TENANT, accept, new_document
from eunoe_stores.sqlite.database import SqliteDatabase
from sqlalchemy import Connection, column, table, update
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable


async def test_migrated_tables_are_those_of_the_code(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "x.db")
    await migration.migrate(database)

    def differences(connection: Connection) -> list[object]:
        options = {
            "version_table": migration.VERSION_TABLE,
            "compare_type": False,  # SQLite tells a type's affinity only
            "include_name": lambda name, kind, _parents: kind != "table" or name in metadata.tables,
            "include_object": lambda each, _name, kind, *_: kind != "index" or each.info.get("only", "sqlite") == "sqlite",
        }
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))

    assert await database.read(differences) == []
    await migration.migrate(database)
    await database.close()


async def test_an_older_database_keeps_its_rows(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "x.db")
    await migration.migrate(database)
    catalogue = SqlCatalogue(database)
    await accept(catalogue, new_document(trace="t"))
    # Back to the first schema, as a program of before left it.
    for statement in (
        "ALTER TABLE documents DROP COLUMN trace",
        "ALTER TABLE memories DROP COLUMN edited_at",
        "DROP TABLE capabilities",
        "DROP TABLE unpublished_edits",
        f"UPDATE {migration.VERSION_TABLE} SET version_num = '0001'",  # noqa: S608
    ):
        await database.write(lambda connection, statement=statement: connection.exec_driver_sql(statement).close())
    await migration.migrate(database)
    row = await catalogue.document(TENANT, new_document().id)
    assert row is not None
    assert (row.name, row.trace) == ("note.md", "")
    assert (await accept(catalogue, new_document("other.md", trace="t"))).document.trace == "t"
    await catalogue.close()
    await database.close()


async def test_a_newer_schema_is_refused(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "x.db")
    await migration.migrate(database)
    version = table(migration.VERSION_TABLE, column("version_num"))
    await database.write(lambda connection: connection.execute(update(version).values(version_num="9999")).close())
    with pytest.raises(SchemaTooNew, match="9999"):
        await migration.migrate(database)
    await database.close()


async def test_an_up_to_date_schema_needs_no_alembic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    database = SqliteDatabase(tmp_path / "x.db")
    await migration.migrate(database)
    monkeypatch.setitem(sys.modules, "alembic", None)  # importing it would fail now
    await migration.migrate(database)
    await database.close()


def test_known_revisions_are_those_in_the_package():
    config = Config()
    config.set_main_option("script_location", str(Path(migration.__file__).with_name("migrations")))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_current_head() == migration.HEAD
    assert {script.revision for script in scripts.walk_revisions()} == migration.KNOWN


def test_the_tables_can_be_written_for_postgresql():
    dialect = postgresql.dialect()
    for each in metadata.sorted_tables:
        assert str(CreateTable(each).compile(dialect=dialect))
        for index in each.indexes:
            assert str(CreateIndex(index).compile(dialect=dialect))

"""The tables: made once by whoever comes first, used by a role that cannot change them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from eunoe_contracts.errors import ConfigurationError, SchemaTooNew
from eunoe_contracts.stages import DocumentStatus, Stage
from eunoe_stores.catalogue import migration
from eunoe_stores.catalogue.rows import DeadLetterQuery, End, Page
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.tables import metadata
from eunoe_stores.catalogue.testing import NOON, TENANT, accept, memory, new_document, passage
from eunoe_stores.postgres import PostgresSettings, open_postgres
from eunoe_stores.postgres.database import PostgresDatabase
from eunoe_stream.ledger import Failure, StageKey
from pydantic import SecretStr
from servers.postgres import Postgres
from sqlalchemy import Connection, text

pytestmark = pytest.mark.servers
ROUNDS = 30


async def test_migrated_tables_are_those_of_the_code(database: PostgresDatabase):
    await migration.migrate(database)

    def include(each: Any, _name: str | None, kind: str, _reflected: bool, _other: object) -> bool:
        return kind != "index" or each.info.get("only", "postgresql") == "postgresql"

    def differences(connection: Connection) -> list[object]:
        options = {"version_table": migration.VERSION_TABLE, "compare_server_default": True, "include_object": include}
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))

    assert await database.read(differences) == []

    def collations(connection: Connection) -> set[str]:
        statement = text(
            "SELECT DISTINCT coalesce(collation_name, 'of the server') FROM information_schema.columns "
            "WHERE table_schema = current_schema() AND data_type IN ('text', 'character varying') AND table_name != :version"
        )
        return set(connection.execute(statement, {"version": migration.VERSION_TABLE}).scalars())

    assert await database.read(collations) == {"C"}


async def test_six_processes_start_at_once(settings: PostgresSettings, server: Postgres):
    """All of them migrate, then race for the same documents: one winner each."""
    environment = {**os.environ, **server.settings(), "EUNOE_POSTGRES__SEARCH_PATH": settings.search_path}
    program = Path(__file__).with_name("claimer.py")
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, str(program), f"{owner}", f"{ROUNDS}", env=environment, stdout=asyncio.subprocess.PIPE
        )
        for owner in range(6)
    ]
    outputs = await asyncio.gather(*(each.communicate() for each in processes))
    assert [each.returncode for each in processes] == [0] * 6
    winners = sorted(int(line) for output, _ in outputs for line in output.split())
    assert winners == list(range(ROUNDS))


async def test_a_newer_schema_is_refused(database: PostgresDatabase):
    await migration.migrate(database)
    await database.write(lambda connection: connection.execute(text(f"UPDATE {migration.VERSION_TABLE} SET version_num = '9999'")).close())  # noqa: S608
    with pytest.raises(SchemaTooNew, match="9999"):
        await migration.migrate(database)


async def test_an_older_schema_keeps_its_rows(database: PostgresDatabase):
    await migration.migrate(database)
    catalogue = SqlCatalogue(database)
    await accept(catalogue, new_document(trace="t"))
    for statement in (
        "ALTER TABLE documents DROP COLUMN trace",
        "ALTER TABLE memories DROP COLUMN edited_at",
        "DROP TABLE capabilities",
        "DROP TABLE unpublished_edits",
        f"UPDATE {migration.VERSION_TABLE} SET version_num = '0001'",  # noqa: S608
    ):
        await database.write(lambda connection, statement=statement: connection.execute(text(statement)).close())
    await asyncio.gather(*(migration.migrate(database) for _ in range(3)))
    row = await catalogue.document(TENANT, new_document().id)
    assert row is not None
    assert (row.name, row.trace) == ("note.md", "")


@pytest.fixture
def app(settings: PostgresSettings, server: Postgres) -> Iterator[PostgresSettings]:
    """A role as `docs/how-to` describes it: it may use what is there, and make nothing."""
    server.sql("CREATE ROLE app LOGIN PASSWORD 'app'")
    server.sql(f"GRANT USAGE ON SCHEMA {settings.search_path} TO app")
    for kind, rights in (("TABLES", "SELECT, INSERT, UPDATE, DELETE"), ("SEQUENCES", "USAGE")):
        server.sql(f"ALTER DEFAULT PRIVILEGES IN SCHEMA {settings.search_path} GRANT {rights} ON {kind} TO app")
    yield settings.model_copy(update={"user": "app", "password": SecretStr("app")})
    server.sql("DROP OWNED BY app")
    server.sql("DROP ROLE app")


async def test_a_role_that_may_not_change_tables_suffices(app: PostgresSettings, database: PostgresDatabase):
    async with open_postgres(app) as restricted:
        with pytest.raises(ConfigurationError, match="schema none, this program needs"):
            await migration.migrate(restricted)
        await migration.migrate(database)
        await migration.migrate(restricted)
        catalogue = SqlCatalogue(restricted)
        await use_everything(catalogue)
        with pytest.raises(Exception, match="42501"):
            await restricted.write(lambda connection: connection.execute(text("CREATE TABLE x (y int)")).close())
        with pytest.raises(Exception, match="42501"):
            await restricted.write(lambda connection: connection.execute(text("DROP TABLE units")).close())


async def use_everything(catalogue: SqlCatalogue) -> None:
    document = (await accept(catalogue, new_document())).document.id
    key = StageKey(document, 1, Stage.EXTRACT)
    await catalogue.claim(TENANT, key, owner="w", lease_s=60, now=NOON)
    await catalogue.put_units(TENANT, document, 1, [passage(document)], title="t", now=NOON)
    await catalogue.put_memories(TENANT, document, 1, [memory(document, "A.")], now=NOON)
    await catalogue.finish(TENANT, key, owner="w", now=NOON)
    await catalogue.exhaust(TENANT, StageKey(document, 1, Stage.EMBED), Failure("x", "m", 5, NOON, NOON))
    await catalogue.set_end(TENANT, document, 1, End(DocumentStatus.FAILED, "x"), now=NOON)
    (letter,), _ = await catalogue.dead_letters(TENANT, DeadLetterQuery(), Page())
    assert await catalogue.reopen(TENANT, letter.id, now=NOON) is not None
    await accept(catalogue, new_document(), reprocess=True)
    await catalogue.release_claims(now=NOON)
    await catalogue.put_note("n", "v")
    assert await catalogue.erase(TENANT, document, now=NOON) is not None
    await catalogue.delete_units(TENANT, document, through_generation=2)
    await catalogue.drop_sources(TENANT, document, through_generation=2)
    await catalogue.drop_through(TENANT, document, through_generation=2)
    await catalogue.prove_erasure(TENANT, document, 2, now=NOON)
    assert await catalogue.purge()

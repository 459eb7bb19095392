"""What was deleted is in no file of the database once the old pages are dropped."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from eunoe_stores.sqlite.connections import raw
from eunoe_stores.sqlite.database import SqliteDatabase
from eunoe_stores.sqlite.old_pages import drop_old_pages
from eunoe_stores.testing.inline import InlineDatabase

SECRET = "quixotrumble " * 500
"""Longer than a page, so that it lies on overflow pages too."""


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    made = SqliteDatabase(tmp_path / "x.db")
    await run(made, "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
    yield made
    await made.close()


async def run(database: SqliteDatabase, statement: str, *parameters: object) -> None:
    await database.write(lambda connection: raw(connection).execute(statement, parameters).close())


def remains(folder: Path) -> dict[str, int]:
    return {each.name: count for each in folder.iterdir() if (count := each.read_bytes().count(b"quixotrumble"))}


async def test_deleted_and_overwritten_texts_are_gone(database: SqliteDatabase, tmp_path: Path) -> None:
    for number in range(20):
        await run(database, "INSERT INTO notes VALUES (?, ?)", number, SECRET)
    assert remains(tmp_path)
    await run(database, "DELETE FROM notes WHERE id < 10")
    await run(database, "UPDATE notes SET text = '' WHERE id >= 10")
    assert await drop_old_pages(database)
    assert remains(tmp_path) == {}
    assert await drop_old_pages(database)
    await run(database, "INSERT INTO notes VALUES (100, 'kept')")
    assert await database.read(lambda connection: raw(connection).execute("SELECT count(*) FROM notes").fetchone()[0]) == 11


async def test_a_reader_that_is_in_the_way_is_told(database: SqliteDatabase, tmp_path: Path) -> None:
    await run(database, "INSERT INTO notes VALUES (1, ?)", SECRET)
    with closing(sqlite3.connect(tmp_path / "x.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM notes").fetchall()
        await run(database, "DELETE FROM notes")
        assert not await drop_old_pages(database)
        await run(database, "INSERT INTO notes VALUES (2, 'writers go on')")
        reader.execute("COMMIT")
    assert await drop_old_pages(database)
    assert remains(tmp_path) == {}


async def test_a_database_in_memory_has_none() -> None:
    database = InlineDatabase()
    assert await drop_old_pages(database)
    await database.write(lambda connection: raw(connection).execute("CREATE TABLE notes (text TEXT)").close())
    database.load(database.save())
    assert await drop_old_pages(database)

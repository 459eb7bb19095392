"""How SQLite goes about the statements that every search runs: by key, whatever the size of the tenant."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest
from eunoe_stores.catalogue.sql import documents, units
from eunoe_stores.catalogue.testing import open_memory_catalogue
from sqlalchemy import Connection, Select, text
from sqlalchemy.dialects import sqlite


def plan(connection: Connection, statement: Select[tuple[object, ...]]) -> list[str]:
    given = statement.params(of_tenant="acme", ids=[uuid4(), uuid4()])
    written = str(given.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True}))
    return [str(row[3]) for row in connection.execute(text("EXPLAIN QUERY PLAN " + written.replace(":", "\\:")))]


@pytest.mark.parametrize("statement", [units.BY_ID, documents.MANY], ids=["units", "documents"])
async def test_rows_of_a_search_are_found_by_their_key(tmp_path: Path, statement: Select[tuple[object, ...]]) -> None:
    async with open_memory_catalogue(tmp_path) as catalogue:
        steps = await catalogue._database.read(lambda connection: plan(connection, statement))
    tables = [step for step in steps if step.startswith(("SCAN", "SEARCH"))]
    assert all(step.startswith("SEARCH") and "(id=?" in step for step in tables), steps

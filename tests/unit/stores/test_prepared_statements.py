"""The short way to the driver gives what SQLAlchemy gives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from eunoe_contracts.stages import DocumentStatus
from eunoe_stores.catalogue.rows import End
from eunoe_stores.catalogue.sql import document_changes, documents, ledger_rows, memory_rows, prepared, units
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.tables import dead_letters, notes
from eunoe_stores.catalogue.testing import NOON, TENANT, accept, memory, new_document, open_memory_catalogue, passage
from sqlalchemy import Connection, Select, func, insert, select
from sqlalchemy.exc import IntegrityError


async def filled(catalogue: SqlCatalogue) -> list[UUID]:
    ids = []
    for number in range(5):
        new = new_document(f"d{number}", metadata={"session": "s", "position": number, "tags": [1, {"a": None}]})
        ids.append((await accept(catalogue, new)).document.id)
        made = [passage(ids[-1], ordinal, text=f"text {ordinal} \N{GRINNING FACE}") for ordinal in range(2)]
        await catalogue.put_units(TENANT, ids[-1], 1, made, title="T", now=NOON)
        await catalogue.put_memories(TENANT, ids[-1], 1, [memory(ids[-1], "Ann likes tea.")], now=NOON)
    await catalogue.set_end(TENANT, ids[0], 1, End(DocumentStatus.FAILED, code="x", message="m"), now=NOON)
    return ids


STATEMENTS: dict[str, Select[Any]] = {
    "documents": documents.MANY,
    "ledgers": documents.LEDGERS,
    "load": ledger_rows.LOAD,
    "memories": memory_rows.BY_ID,
    "sources": memory_rows.SOURCES,
    "units": units.BY_ID,
    "of generations": units.OF_GENERATIONS,
    "previous turn": units.PREVIOUS_TURN,
    "latest": units.LATEST,
    "one": documents.ONE,
    "for change": document_changes.FOR_CHANGE,
    "open": documents.OPEN,
    "constants": select(func.count(), func.max(dead_letters.c.id)).where(dead_letters.c.stage.in_(["a", "b"]), dead_letters.c.attempts > 1),
}


@pytest.mark.parametrize("name", STATEMENTS)
@pytest.mark.parametrize("number", [1, 2, 3, 5, 9])
async def test_rows_are_those_of_sqlalchemy(tmp_path: Path, name: str, number: int) -> None:
    statement = STATEMENTS[name]
    async with open_memory_catalogue(tmp_path) as catalogue:
        known = await filled(catalogue)
        everything = [*known, *(memory(known[0], "Ann likes tea.").id for _ in "a"), *(passage(each, 0).id for each in known)]
        values: dict[str, Any] = {
            "ids": (everything if number > 5 else [*everything[:number], uuid4()]),
            "of_tenant": TENANT,
            "document": known[0],
            "of_document": known[-1],
            "of_generation": 1,
            "in_container": "notes",
            "of_session": "s",
            "before": number,
            "since": NOON.replace(year=2100),
            "at_most": number,
        }
        wanted = {key: value for key, value in values.items() if key in statement.compile().params}

        def both(connection: Connection) -> tuple[list[Any], list[Any], list[Mapping[str, Any]], list[Mapping[Any, Any]]]:
            ours, theirs = prepared.fetch(connection, statement, wanted), connection.execute(statement, wanted).all()
            mapped = [dict(each) for each in connection.execute(statement, wanted).mappings()]
            return list(ours), [tuple(each) for each in theirs], ours.mappings(), mapped

        ours, theirs, our_mappings, their_mappings = await catalogue._database.read(both)
    assert sorted(map(repr, map(tuple, ours))) == sorted(map(repr, theirs))
    if name != "constants":
        assert [list(each.values()) for each in our_mappings] == [list(each.values()) for each in their_mappings]


async def test_a_constraint_that_does_not_hold_is_sqlalchemys_error(tmp_path: Path) -> None:
    async with open_memory_catalogue(tmp_path) as catalogue:
        statement = insert(notes)

        def twice(connection: Connection) -> None:
            prepared.apply(connection, statement, {"name": "a", "value": "1"})
            prepared.apply(connection, statement, {"name": "a", "value": "2"})

        with pytest.raises(IntegrityError):
            await catalogue._database.write(twice)


async def test_several_sets_of_values_count_their_rows(tmp_path: Path) -> None:
    async with open_memory_catalogue(tmp_path) as catalogue:
        statement = insert(notes)
        rows = [{"name": str(number), "value": "v"} for number in range(3)]
        assert await catalogue._database.write(lambda connection: prepared.apply(connection, statement, rows)) == 3

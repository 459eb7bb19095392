"""Where PostgreSQL is not SQLite: order of text, NUL, lengths, JSON, sizes of index rows."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest
from eunoe_contracts.content import Json
from eunoe_contracts.stages import DocumentStatus, Stage
from eunoe_stores.catalogue.rows import DeadLetterQuery, DocumentQuery, End, Page
from eunoe_stores.catalogue.sql import documents, ledger, ledger_rows, locks, units
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import CONTAINER, NOON, TENANT, accept, memory, new_document, passage
from eunoe_stream.ledger import Failure, StageKey
from servers.postgres import Postgres
from sqlalchemy import Connection, Select, text

pytestmark = pytest.mark.servers


async def test_the_server_itself_orders_words_as_a_language_does(server: Postgres):
    """Else the next test would prove nothing."""
    assert server.sql("SELECT 'a' < 'B'") == [(True,)]


async def test_names_are_ordered_by_bytes(catalogue: SqlCatalogue):
    names = ["B", "a", "Z", "_", "é", "z", "a.b", "a-b", "\U0001f600", "￿"]
    for name in names:
        await accept(catalogue, new_document(name, container=name))
    found, total = await catalogue.containers(TENANT, prefix="", page=Page())
    assert ([each.name for each in found], total) == (sorted(names, key=lambda name: name.encode()), len(names))
    assert [each.name for each in (await catalogue.containers(TENANT, prefix="a", page=Page()))[0]] == ["a", "a-b", "a.b"]


async def test_nul_becomes_a_replacement_character_and_is_found(catalogue: SqlCatalogue):
    new = new_document("a\0b", metadata={"title": "x\0y", "k": "p\0q", "session": "s\0t", "position": 1}, tags=("u\0v",), custom_id="c\0d")
    document = (await accept(catalogue, new)).document.id
    unit = passage(document, text="one\0two")
    await catalogue.put_units(TENANT, document, 1, [unit], title="x\0y", now=NOON)
    await catalogue.put_memories(TENANT, document, 1, [memory(document, "A\0B.")], now=NOON)
    await catalogue.exhaust(TENANT, StageKey(document, 1, Stage.EMBED), Failure("x", "m\0n", 5, NOON, NOON))
    row = await catalogue.document(TENANT, document)
    assert row is not None
    assert (row.name, row.title, row.custom_id) == ("a�b", "x�y", "c�d")
    assert (row.metadata["k"], row.tags) == ("p\0q", ("u\0v",)), "JSON has a form for it"
    assert [each.text for each in await catalogue.units(TENANT, document, 1)] == ["one�two"]
    assert await catalogue.documents_by_title(TENANT, CONTAINER, ["x\0y"]) == {"x\0y": document}
    assert (await catalogue.list_documents(TENANT, DocumentQuery(custom_id="c\0d"), Page()))[1] == 1
    assert await catalogue.turn_before(TENANT, CONTAINER, "s\0t", before=2) is not None
    assert (await catalogue.dead_letters(TENANT, DeadLetterQuery(), Page()))[0][0].message == "m�n"


async def test_texts_longer_than_a_row_of_an_index(catalogue: SqlCatalogue):
    letters = random.Random(1)

    def long(count: int = 6000) -> str:
        return "".join(chr(letters.randrange(0x4E00, 0x9FFF)) for _ in range(count))

    name, title, session, custom_id = long(), long(), long(), long()
    first = new_document(name, metadata={"title": title, "session": session, "position": 1}, custom_id=custom_id, media_type="x/" + long())
    second = new_document("2", metadata={"session": session, "position": 2}, custom_id=custom_id)
    other = new_document("3", metadata={"session": session[:-1] + "x", "position": 1, "title": title[:-1] + "x"})
    for each in (first, second, other):
        await accept(catalogue, each)
    assert await catalogue.documents_by_title(TENANT, CONTAINER, [title, name]) == {title: first.id, name: first.id}
    assert await catalogue.older_versions(TENANT, second.id) == [first.id]
    found = await catalogue.turn_before(TENANT, CONTAINER, session, before=2)
    assert found is not None
    assert found.document == first.id


async def test_json_comes_back_as_it_was(catalogue: SqlCatalogue):
    values: dict[str, Json] = {
        "z": 1, "a": [1.5, 1e300, -0.1, 2**70, None, True, "é\U0001f600\0\ud800"], "nested": {"y": {}, "b": []}, "": "", "1": 1.0,
    }  # fmt: skip
    document = (await accept(catalogue, new_document(metadata=values, tags=("z", "a")))).document.id
    row = await catalogue.document(TENANT, document)
    assert row is not None
    assert (row.metadata, list(row.metadata), row.tags) == (values, list(values), ("z", "a"))


async def test_a_position_that_no_column_holds_is_none(catalogue: SqlCatalogue):
    document = (await accept(catalogue, new_document(metadata={"session": "s", "position": 2**63}))).document.id
    row = await catalogue.document(TENANT, document)
    assert row is not None
    assert row.metadata["position"] == 2**63


async def test_offset_pages_of_equal_times_have_one_order(catalogue: SqlCatalogue):
    for number in range(20):
        document = (await accept(catalogue, new_document(f"{number}"))).document.id
        await catalogue.put_memories(TENANT, document, 1, [memory(document, f"Statement {number}.")], now=NOON)
        await catalogue.set_end(TENANT, document, 1, End(DocumentStatus.DONE), now=NOON + timedelta(seconds=number))
    pages: list[Any] = []
    for offset in range(0, 20, 3):
        rows, total = await catalogue.list_memories(TENANT, container="", document=None, kinds=frozenset(), page=Page(3, offset))
        assert total == 20
        pages += [row.id for row in rows]
    assert pages == sorted(pages)
    assert len(set(pages)) == 20


@pytest.mark.parametrize(
    "statement",
    [documents.MANY, documents.LEDGERS, ledger.FENCES, ledger_rows.LOAD, locks.DOCUMENTS, units.BY_ID, units.OF_GENERATIONS],
    ids=["documents", "ledgers", "fences", "load", "lock", "units", "units of generations"],
)
async def test_what_runs_for_every_stage_and_search_goes_by_an_index(catalogue: SqlCatalogue, statement: Select[Any]):
    ids = [new_document(f"{number}").id for number in range(3)]

    def plan(connection: Connection) -> str:
        connection.execute(text("SET LOCAL enable_seqscan = off")).close()
        given = statement.params(of_tenant=TENANT, ids=ids, of_generation=1)
        written = str(given.compile(connection.engine, compile_kwargs={"literal_binds": True}))
        return "\n".join(row[0] for row in connection.execute(text("EXPLAIN " + written.replace(":", "\\:").replace("\\:\\:", "::"))))

    found = await catalogue._database.write(plan)
    assert "Index" in found
    assert "Seq Scan" not in found, found

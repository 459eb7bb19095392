"""What `purge` does on PostgreSQL."""

from __future__ import annotations

import asyncio
import threading

import pytest
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import NOON, TENANT, accept, memory, new_document, passage
from eunoe_stores.postgres import PostgresSettings
from servers.postgres import Postgres
from sqlalchemy import Connection, text

pytestmark = pytest.mark.servers
SECRET = "zebra"


async def erased(catalogue: SqlCatalogue, count: int) -> None:
    for number in range(count):
        new = new_document(f"{SECRET}{number}", metadata={"title": SECRET})
        document = (await accept(catalogue, new)).document.id
        await catalogue.put_units(TENANT, document, 1, [passage(document, text=SECRET * 99)], title=SECRET, now=NOON)
        await catalogue.put_memories(TENANT, document, 1, [memory(document, f"{SECRET}{number}")], now=NOON)
        await catalogue.erase(TENANT, document, now=NOON)
        await catalogue.delete_units(TENANT, document, through_generation=1)
        await catalogue.drop_sources(TENANT, document, through_generation=1)


def versions(server: Postgres, schema: str) -> int:
    """Row versions that are there, seen and unseen, with the word in them."""
    server.sql("CREATE EXTENSION IF NOT EXISTS pageinspect")
    found = 0
    for table in ("documents", "units", "memories", "memory_sources"):
        name = f"'{schema}.{table}'"
        pages = f"generate_series(0, pg_relation_size({name}) / 8192 - 1) AS page, heap_page_items(get_raw_page({name}, page::int))"
        ((count,),) = server.sql(f"SELECT count(*) FROM {pages} WHERE position('{SECRET}'::bytea IN t_data) > 0")  # noqa: S608 - names of ours
        found += int(str(count))
    return found


async def test_a_purge_takes_the_old_versions_away(catalogue: SqlCatalogue, settings: PostgresSettings, server: Postgres):
    await erased(catalogue, 20)
    assert versions(server, settings.search_path) > 0
    assert await catalogue.purge()
    assert versions(server, settings.search_path) == 0
    assert await catalogue.purge()


async def test_while_somebody_may_look_at_them_they_stay(catalogue: SqlCatalogue, clients: list[SqlCatalogue]):
    looking, enough = threading.Event(), threading.Event()

    def look(connection: Connection) -> None:
        connection.execute(text("SELECT count(*) FROM documents")).close()
        looking.set()
        assert enough.wait(20)

    reading = asyncio.create_task(clients[1]._database.read(look))
    await asyncio.to_thread(looking.wait, 10)
    await erased(catalogue, 1)
    assert not await catalogue.purge()
    enough.set()
    await reading
    assert await catalogue.purge()

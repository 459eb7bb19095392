"""The server is killed or restarted: acknowledged commits stay, callers get errors of our tree, the pool recovers by itself."""

from __future__ import annotations

import asyncio
import time

import pytest
from eunoe_contracts.errors import StoreUnavailable
from eunoe_stores.catalogue.migration import migrate
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import TENANT, accept, new_document
from eunoe_stores.postgres import PostgresSettings, open_postgres
from eunoe_stores.postgres.database import PostgresDatabase
from servers.postgres import Postgres
from sqlalchemy import text

pytestmark = pytest.mark.servers
RECOVERS_S = 30.0


async def test_a_killed_server_has_every_commit_that_it_acknowledged(database: PostgresDatabase, server: Postgres):
    await migrate(database)
    catalogue = SqlCatalogue(database)
    acknowledged: list[str] = []
    errors: list[BaseException] = []
    stop = asyncio.Event()

    async def writer(number: int) -> None:
        count = 0
        while not stop.is_set():
            name = f"{number}-{count}"
            try:
                await accept(catalogue, new_document(name))
            except Exception as error:  # noqa: BLE001 - looked at below
                errors.append(error)
                await asyncio.sleep(0.01)
            else:
                acknowledged.append(name)
                count += 1

    async with asyncio.TaskGroup() as writers:
        for number in range(6):
            writers.create_task(writer(number))
        await reaches(acknowledged, 200)
        await asyncio.to_thread(server.kill)
        before = len(acknowledged)
        await reaches(errors, 20)
        await asyncio.to_thread(server.start)
        await reaches(acknowledged, before + 100)
        stop.set()
    assert {type(each) for each in errors} == {StoreUnavailable}
    ids = [new_document(name).id for name in acknowledged]
    assert (await catalogue.documents_by_id(TENANT, ids)).keys() == set(ids)


async def reaches(counted: list[object] | list[str] | list[BaseException], count: int) -> None:
    deadline = time.monotonic() + RECOVERS_S
    while len(counted) < count:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


async def test_after_a_restart_the_first_call_works(database: PostgresDatabase, server: Postgres):
    assert await database.read(lambda connection: connection.execute(text("SELECT 1")).scalar()) == 1
    await asyncio.to_thread(server.stop)
    began = time.monotonic()
    with pytest.raises(StoreUnavailable, match="no connection"):
        await database.read(lambda connection: connection.execute(text("SELECT 1")).scalar())
    assert time.monotonic() - began < 3
    await asyncio.to_thread(server.start)
    assert await database.read(lambda connection: connection.execute(text("SELECT 1")).scalar()) == 1


async def test_a_watcher_survives_nothing_but_can_begin_again(settings: PostgresSettings, server: Postgres):
    async with open_postgres(settings) as database:
        await migrate(database)
        catalogue = SqlCatalogue(database, watch_interval_s=0.02)
        document = (await accept(catalogue, new_document())).document
        watching = aiter(catalogue.watch(TENANT, document.id, since=0))
        assert (await anext(watching)).revision == 1
        next_change = asyncio.ensure_future(anext(watching))
        await asyncio.sleep(0)
        await asyncio.to_thread(server.kill)
        with pytest.raises(StoreUnavailable):
            await asyncio.wait_for(next_change, 10)
        await asyncio.to_thread(server.start)
        await catalogue.mark_published(TENANT, document.id, 1)
        assert (await anext(aiter(catalogue.watch(TENANT, document.id, since=1)))).published

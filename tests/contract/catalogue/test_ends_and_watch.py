from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest
from eunoe_contracts.errors import DocumentNotFound
from eunoe_contracts.stages import DocumentStatus, Stage
from eunoe_stores.catalogue.rows import DocumentRow, End
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import NOON, TENANT, accept, new_document
from eunoe_stream.ledger import StageKey

DONE = End(DocumentStatus.DONE, counts={"passages": 3})


@pytest.fixture
async def document(catalogue: SqlCatalogue) -> UUID:
    return (await accept(catalogue, new_document())).document.id


async def test_end_is_set_once(catalogue: SqlCatalogue, document: UUID):
    assert await catalogue.set_end(TENANT, document, 1, DONE, now=NOON)
    assert not await catalogue.set_end(TENANT, document, 1, DONE, now=NOON)
    assert not await catalogue.set_end(TENANT, document, 1, End(DocumentStatus.FAILED, "x"), now=NOON)
    row = await catalogue.document(TENANT, document)
    assert row is not None
    assert (row.status, row.counts, row.revision) == (DocumentStatus.DONE, {"passages": 3}, 2)
    assert await catalogue.count_open() == 0
    assert await catalogue.may_write(TENANT, document, 1)


async def test_failed_end_keeps_code_and_message(catalogue: SqlCatalogue, document: UUID):
    await catalogue.set_end(TENANT, document, 1, End(DocumentStatus.FAILED, "empty_extraction", "no text"), now=NOON)
    row = await catalogue.document(TENANT, document)
    assert row is not None
    assert (row.status, row.error_code, row.error_message) == (DocumentStatus.FAILED, "empty_extraction", "no text")


async def test_end_of_another_generation_or_unknown_document_is_refused(catalogue: SqlCatalogue, document: UUID):
    assert not await catalogue.set_end(TENANT, document, 2, DONE, now=NOON)
    assert not await catalogue.set_end("other", document, 1, DONE, now=NOON)


async def test_degraded_only_gets_better(catalogue: SqlCatalogue, document: UUID):
    def done(*degraded: str) -> End:
        return End(DocumentStatus.DONE, degraded=degraded)

    assert await catalogue.set_end(TENANT, document, 1, done("propose", "relate"), now=NOON)
    assert not await catalogue.set_end(TENANT, document, 1, done("embed_memories"), now=NOON)
    assert await catalogue.set_end(TENANT, document, 1, done("relate"), now=NOON)
    assert not await catalogue.set_end(TENANT, document, 1, done("propose", "relate"), now=NOON)
    assert await catalogue.set_end(TENANT, document, 1, done(), now=NOON)


async def test_stage_changes_leave_a_done_document_done(catalogue: SqlCatalogue, document: UUID):
    await catalogue.set_end(TENANT, document, 1, DONE, now=NOON)
    await catalogue.claim(TENANT, StageKey(document, 1, Stage.RELATE), owner="w", lease_s=60, now=NOON)
    row = await catalogue.document(TENANT, document)
    assert row is not None
    assert row.status is DocumentStatus.DONE
    assert await catalogue.count_open() == 0


async def test_cancel_ends_an_open_document_only(catalogue: SqlCatalogue, document: UUID):
    row = await catalogue.cancel(TENANT, document, now=NOON)
    assert row is not None
    assert row.status is DocumentStatus.CANCELLED
    assert await catalogue.cancel(TENANT, document, now=NOON) is None
    assert await catalogue.cancel("other", document, now=NOON) is None


async def test_warnings_are_added_once(catalogue: SqlCatalogue, document: UUID):
    await catalogue.add_warnings(TENANT, document, 1, ["a", "b", "a"])
    await catalogue.add_warnings(TENANT, document, 1, ["b", "c"])
    await catalogue.add_warnings(TENANT, document, 2, ["stale"])
    row = await catalogue.document(TENANT, document)
    assert row is not None
    assert row.warnings == ("a", "b", "c")


async def test_published_is_marked_for_its_generation(catalogue: SqlCatalogue, document: UUID):
    await catalogue.mark_published(TENANT, document, 2)
    assert [found.published for found in await catalogue.open_documents(not_updated_since=NOON + timedelta(1), limit=9)] == [False]
    await catalogue.mark_published(TENANT, document, 1)
    await catalogue.mark_published(TENANT, document, 1)
    found = await catalogue.open_documents(not_updated_since=NOON + timedelta(seconds=1), limit=9)
    assert [(one.tenant, one.document, one.generation, one.published, one.updated_at) for one in found] == [
        (TENANT, document, 1, True, NOON)
    ]
    assert not await catalogue.open_documents(not_updated_since=NOON, limit=9)


async def test_watch_shows_each_change_until_the_end(catalogue: SqlCatalogue, document: UUID):
    seen: list[DocumentRow] = []
    started = asyncio.Event()

    async def watch() -> None:
        async for row in catalogue.watch(TENANT, document, since=0):
            seen.append(row)
            started.set()

    watching = asyncio.create_task(watch())
    await started.wait()
    await catalogue.claim(TENANT, StageKey(document, 1, Stage.EXTRACT), owner="w", lease_s=60, now=NOON)
    await catalogue.set_end(TENANT, document, 1, DONE, now=NOON)
    await asyncio.wait_for(watching, 5)
    assert seen[0].status is DocumentStatus.QUEUED
    assert seen[-1].status is DocumentStatus.DONE
    assert [row.revision for row in seen] == sorted({row.revision for row in seen})


async def test_watch_of_an_ended_document_ends(catalogue: SqlCatalogue, document: UUID):
    await catalogue.set_end(TENANT, document, 1, DONE, now=NOON)
    assert [row.status async for row in catalogue.watch(TENANT, document, since=0)] == [DocumentStatus.DONE]
    assert [row async for row in catalogue.watch(TENANT, document, since=2)] == []


async def test_watch_of_an_erased_or_unknown_document_raises(catalogue: SqlCatalogue, document: UUID):
    async def watch(document: UUID) -> list[DocumentRow]:
        return [row async for row in catalogue.watch(TENANT, document, since=99)]

    watching = asyncio.create_task(watch(document))
    await asyncio.sleep(0)
    await catalogue.erase(TENANT, document, now=NOON)
    with pytest.raises(DocumentNotFound):
        await asyncio.wait_for(watching, 5)
    with pytest.raises(DocumentNotFound):
        await watch(new_document("unknown").id)


async def test_watch_sees_changes_of_another_process_by_polling(catalogue: SqlCatalogue, document: UUID):
    elsewhere = SqlCatalogue(catalogue._database)

    async def first() -> DocumentRow:
        return await anext(aiter(catalogue.watch(TENANT, document, since=1)))

    watching = asyncio.create_task(first())
    await elsewhere.mark_published(TENANT, document, 1)
    row = await asyncio.wait_for(watching, 5)
    assert row.published

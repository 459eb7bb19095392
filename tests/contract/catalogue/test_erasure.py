from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest
from eunoe_contracts.stages import ClaimOutcome, FinishOutcome, Stage
from eunoe_stores.catalogue.rows import DeadLetterQuery, Erasure, Page
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.tables import metadata
from eunoe_stores.catalogue.testing import NOON, TENANT, accept, memory, new_document, passage
from eunoe_stream.ledger import Failure, StageKey
from sqlalchemy import Connection, select

SECRET = "zebra"
LATER = NOON + timedelta(minutes=2)


@pytest.fixture
async def document(catalogue: SqlCatalogue) -> UUID:
    new = new_document(
        SECRET,
        metadata={"session": SECRET, "title": SECRET},
        tags=(SECRET,),
        custom_id=SECRET,
        source_url=SECRET,
        warnings=(SECRET,),
        blob=SECRET,
        sha256=SECRET,
        fingerprint=SECRET,
    )
    return (await accept(catalogue, new)).document.id


async def test_erase_keeps_a_tombstone_and_the_fence(catalogue: SqlCatalogue, document: UUID):
    assert await catalogue.erase("other", document, now=NOON) is None
    assert await catalogue.erase(TENANT, document, now=NOON) == Erasure(TENANT, document, 1, NOON, None)
    assert await catalogue.erase(TENANT, document, now=LATER) is None
    assert await catalogue.document(TENANT, document) is None
    assert not await catalogue.may_write(TENANT, document, 1)
    key = StageKey(document, 1, Stage.EMBED)
    assert await catalogue.claim(TENANT, key, owner="w", lease_s=60, now=NOON) is ClaimOutcome.FENCED
    assert not await catalogue.put_units(TENANT, document, 1, [passage(document)], title=SECRET, now=NOON)
    await catalogue.add_warnings(TENANT, document, 1, [SECRET])
    assert await catalogue.cancel(TENANT, document, now=NOON) is None
    assert await catalogue.count_open() == 0


async def test_nothing_of_the_content_is_left(catalogue: SqlCatalogue, document: UUID):
    key = StageKey(document, 1, Stage.PROPOSE)
    failure = Failure("internal_error", SECRET, 1, NOON, NOON)
    await catalogue.put_units(TENANT, document, 1, [passage(document, text=SECRET)], title=SECRET, now=NOON)
    await catalogue.put_memories(TENANT, document, 1, [memory(document, SECRET, tags=(SECRET,))], now=NOON)
    await catalogue.exhaust(TENANT, key, failure)
    await catalogue.erase(TENANT, document, now=NOON)
    await catalogue.delete_units(TENANT, document, through_generation=1)
    await catalogue.drop_sources(TENANT, document, through_generation=1)
    await catalogue.record_poison(TENANT, group="g", failure=Failure("x", "m", 1, NOON, NOON), event_id="e", document=document)

    def dump(connection: Connection) -> str:
        return "".join(str(connection.execute(select(table)).all()) for table in metadata.sorted_tables)

    assert SECRET not in await catalogue._database.read(dump)
    letters, _ = await catalogue.dead_letters(TENANT, DeadLetterQuery(document=document), Page())
    assert {(letter.code, letter.document_name) for letter in letters} == {("internal_error", ""), ("x", "")}


async def test_proof(catalogue: SqlCatalogue, document: UUID):
    await catalogue.erase(TENANT, document, now=NOON)
    assert await catalogue.pending_erasures(requested_before=NOON, limit=9) == []
    assert await catalogue.pending_erasures(requested_before=LATER, limit=9) == [Erasure(TENANT, document, 1, NOON, None)]
    await catalogue.prove_erasure(TENANT, document, 1, now=LATER)
    await catalogue.prove_erasure(TENANT, document, 1, now=LATER)
    assert await catalogue.pending_erasures(requested_before=LATER, limit=9) == []


async def test_added_again_and_erased_again(catalogue: SqlCatalogue, document: UUID):
    await catalogue.erase(TENANT, document, now=NOON)
    again = await accept(catalogue, new_document(SECRET))
    assert again.document.generation == 2
    assert await catalogue.erase(TENANT, document, now=LATER) == Erasure(TENANT, document, 2, LATER, None)
    assert len(await catalogue.pending_erasures(requested_before=LATER + timedelta(1), limit=9)) == 2
    await catalogue.prove_erasure(TENANT, document, 1, now=LATER)
    pending = await catalogue.pending_erasures(requested_before=LATER + timedelta(1), limit=9)
    assert [erasure.generation for erasure in pending] == [2]


async def test_late_deletes_of_the_erased_generation_leave_the_new_one(catalogue: SqlCatalogue, document: UUID):
    await catalogue.erase(TENANT, document, now=NOON)
    await accept(catalogue, new_document(SECRET))
    await catalogue.put_units(TENANT, document, 2, [passage(document, generation=2)], title="", now=NOON)
    await catalogue.put_memories(TENANT, document, 2, [memory(document, "A.", generation=2)], now=NOON)
    await catalogue.finish(TENANT, StageKey(document, 2, Stage.EXTRACT), owner="w", now=NOON)
    await catalogue.delete_units(TENANT, document, through_generation=1)
    await catalogue.drop_sources(TENANT, document, through_generation=1)
    await catalogue.drop_through(TENANT, document, through_generation=1)
    assert len(await catalogue.units(TENANT, document, 2)) == 1
    assert len(await catalogue.memories_of(TENANT, document, 2)) == 1
    assert await catalogue.stage_outcomes(TENANT, document, 2) == {Stage.EXTRACT: ClaimOutcome.FINISHED}


async def test_drop_through_removes_the_ledger(catalogue: SqlCatalogue, document: UUID):
    await catalogue.finish(TENANT, StageKey(document, 1, Stage.EXTRACT), owner="w", now=NOON)
    await catalogue.erase(TENANT, document, now=NOON)
    await catalogue.drop_through(TENANT, document, through_generation=1)
    assert await catalogue.stage_outcomes(TENANT, document, 1) == {}


async def test_erase_and_claim_at_once_never_leave_a_claim_after_the_fence(catalogue: SqlCatalogue):
    for number in range(10):
        id_ = (await accept(catalogue, new_document(str(number)))).document.id
        key = StageKey(id_, 1, Stage.EXTRACT)
        outcome, erasure, finished = await asyncio.gather(
            catalogue.claim(TENANT, key, owner="w", lease_s=60, now=NOON),
            catalogue.erase(TENANT, id_, now=NOON),
            catalogue.finish(TENANT, key, owner="w", now=NOON),
        )
        assert erasure is not None
        assert outcome in {ClaimOutcome.CLAIMED, ClaimOutcome.FENCED}
        assert finished in {FinishOutcome.FENCED, FinishOutcome.FINISHED}
        assert not await catalogue.may_write(TENANT, id_, 1)
        assert await catalogue.claim(TENANT, key, owner="w", lease_s=60, now=NOON) is ClaimOutcome.FENCED

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from eunoe_contracts.stages import RANK, ClaimOutcome, DocumentStatus, FinishOutcome, Stage, StageState
from eunoe_stores.catalogue.rows import DeadLetterQuery, DocumentRow, End, Page
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import CONTAINER, NOON, TENANT, accept, new_document
from eunoe_stream.ledger import Failure, StageKey

LEASE_S = 60.0
FAILURE = Failure("store_unavailable", "a store did not answer", 3, NOON, NOON + timedelta(minutes=1), "trace", "topic")


@pytest.fixture
async def document(catalogue: SqlCatalogue) -> UUID:
    return (await accept(catalogue, new_document())).document.id


async def state(catalogue: SqlCatalogue, document: UUID) -> DocumentRow:
    row = await catalogue.document(TENANT, document)
    assert row is not None
    return row


async def claim(catalogue: SqlCatalogue, document: UUID, stage: Stage, owner: str = "w", now: datetime = NOON) -> ClaimOutcome:
    return await catalogue.claim(TENANT, StageKey(document, 1, stage), owner=owner, lease_s=LEASE_S, now=now)


async def finish(catalogue: SqlCatalogue, document: UUID, stage: Stage) -> FinishOutcome:
    return await catalogue.finish(TENANT, StageKey(document, 1, stage), owner="w", now=NOON)


async def test_status_follows_the_ledger_and_the_revision_grows(catalogue: SqlCatalogue, document: UUID):
    seen = [await state(catalogue, document)]
    for stage in (Stage.EXTRACT, Stage.EMBED):
        assert await claim(catalogue, document, stage) is ClaimOutcome.CLAIMED
        seen.append(await state(catalogue, document))
        assert await finish(catalogue, document, stage)
        seen.append(await state(catalogue, document))
    assert [row.status.value for row in seen] == ["queued", "extracting", "chunking", "embedding", "indexing"]
    assert [row.revision for row in seen] == sorted({row.revision for row in seen})
    entry = seen[-1].stages[Stage.EMBED]
    assert (entry.state, entry.attempts, entry.updated_at) == (StageState.FINISHED, 1, NOON)


async def test_status_never_goes_back(catalogue: SqlCatalogue, document: UUID):
    await claim(catalogue, document, Stage.EXTRACT)
    await catalogue.release(TENANT, StageKey(document, 1, Stage.EXTRACT), owner="w", failure=FAILURE, now=NOON)
    row = await state(catalogue, document)
    assert row.status is DocumentStatus.EXTRACTING
    entry = row.stages[Stage.EXTRACT]
    assert (entry.state, entry.attempts, entry.code, entry.message) == (StageState.WAITING, 3, FAILURE.code, FAILURE.message)
    await claim(catalogue, document, Stage.STRUCTURE)
    assert RANK[(await state(catalogue, document)).status] >= RANK[DocumentStatus.EXTRACTING]


async def test_a_live_lease_keeps_others_out(catalogue: SqlCatalogue, document: UUID):
    assert await claim(catalogue, document, Stage.EXTRACT, "a") is ClaimOutcome.CLAIMED
    assert await claim(catalogue, document, Stage.EXTRACT, "b") is ClaimOutcome.BUSY
    assert await claim(catalogue, document, Stage.EXTRACT, "a") is ClaimOutcome.CLAIMED
    after = NOON + timedelta(seconds=LEASE_S)
    assert await claim(catalogue, document, Stage.EXTRACT, "b", after) is ClaimOutcome.CLAIMED
    key = StageKey(document, 1, Stage.EXTRACT)
    assert not await catalogue.renew(TENANT, key, owner="a", lease_s=LEASE_S, now=after)


async def test_only_one_of_many_claims_wins(catalogue: SqlCatalogue, document: UUID):
    outcomes = await asyncio.gather(*(claim(catalogue, document, Stage.EXTRACT, str(number)) for number in range(20)))
    assert outcomes.count(ClaimOutcome.CLAIMED) == 1
    assert outcomes.count(ClaimOutcome.BUSY) == 19


async def test_renewing_extends_the_lease(catalogue: SqlCatalogue, document: UUID):
    await claim(catalogue, document, Stage.EXTRACT, "a")
    key = StageKey(document, 1, Stage.EXTRACT)
    later = NOON + timedelta(seconds=LEASE_S - 1)
    assert await catalogue.renew(TENANT, key, owner="a", lease_s=LEASE_S, now=later)
    assert await claim(catalogue, document, Stage.EXTRACT, "b", NOON + timedelta(seconds=LEASE_S + 30)) is ClaimOutcome.BUSY


async def test_a_clock_set_back_does_not_wedge_a_claim(catalogue: SqlCatalogue, document: UUID):
    await claim(catalogue, document, Stage.EXTRACT, "a", NOON + timedelta(days=3))
    assert await claim(catalogue, document, Stage.EXTRACT, "b", NOON) is ClaimOutcome.CLAIMED


async def test_finished_stays_finished(catalogue: SqlCatalogue, document: UUID):
    await claim(catalogue, document, Stage.EXTRACT)
    assert await finish(catalogue, document, Stage.EXTRACT)
    before = await state(catalogue, document)
    assert await finish(catalogue, document, Stage.EXTRACT)
    assert await claim(catalogue, document, Stage.EXTRACT, "b") is ClaimOutcome.FINISHED
    await catalogue.exhaust(TENANT, StageKey(document, 1, Stage.EXTRACT), FAILURE)
    await catalogue.release(TENANT, StageKey(document, 1, Stage.EXTRACT), owner="w", failure=FAILURE, now=NOON)
    assert await state(catalogue, document) == before


async def test_finish_after_the_lease_was_taken_over(catalogue: SqlCatalogue, document: UUID):
    await claim(catalogue, document, Stage.EXTRACT, "w")
    await claim(catalogue, document, Stage.EXTRACT, "b", NOON + timedelta(seconds=LEASE_S))
    assert await finish(catalogue, document, Stage.EXTRACT)


async def test_exhaust_writes_the_dead_letter_once(catalogue: SqlCatalogue, document: UUID):
    key = StageKey(document, 1, Stage.EMBED)
    await claim(catalogue, document, Stage.EMBED)
    await catalogue.exhaust(TENANT, key, FAILURE)
    await catalogue.exhaust(TENANT, key, FAILURE)
    letters, total = await catalogue.dead_letters(TENANT, DeadLetterQuery(), Page())
    assert total == len(letters) == 1
    letter = letters[0]
    assert (letter.document, letter.generation, letter.stage, letter.container) == (document, 1, "embed", CONTAINER)
    assert (letter.document_name, letter.code, letter.message, letter.attempts) == ("note.md", FAILURE.code, FAILURE.message, 3)
    assert (letter.first_failed_at, letter.last_failed_at, letter.trace, letter.topic) == (NOON, FAILURE.failed_at, "trace", "topic")
    assert await claim(catalogue, document, Stage.EMBED) is ClaimOutcome.EXHAUSTED
    assert not await finish(catalogue, document, Stage.EMBED)
    assert await catalogue.stage_outcomes(TENANT, document, 1) == {Stage.EMBED: ClaimOutcome.EXHAUSTED}


async def test_stage_outcomes_hold_ended_stages_only(catalogue: SqlCatalogue, document: UUID):
    await claim(catalogue, document, Stage.EXTRACT)
    await finish(catalogue, document, Stage.EXTRACT)
    await claim(catalogue, document, Stage.EMBED)
    assert await catalogue.stage_outcomes(TENANT, document, 1) == {Stage.EXTRACT: ClaimOutcome.FINISHED}


@pytest.mark.parametrize("status", [DocumentStatus.FAILED, DocumentStatus.CANCELLED])
async def test_a_bad_end_fences(catalogue: SqlCatalogue, document: UUID, status: DocumentStatus):
    await claim(catalogue, document, Stage.EXTRACT)
    await catalogue.set_end(TENANT, document, 1, End(status), now=NOON)
    assert not await catalogue.may_write(TENANT, document, 1)
    assert await claim(catalogue, document, Stage.EMBED) is ClaimOutcome.FENCED
    assert not await finish(catalogue, document, Stage.EXTRACT)
    await catalogue.exhaust(TENANT, StageKey(document, 1, Stage.EXTRACT), FAILURE)
    assert (await catalogue.dead_letters(TENANT, DeadLetterQuery(), Page()))[1] == 0


async def test_unknown_documents_and_tenants_are_fenced(catalogue: SqlCatalogue, document: UUID):
    unknown = StageKey(new_document("unknown").id, 1, Stage.EXTRACT)
    assert await catalogue.claim(TENANT, unknown, owner="w", lease_s=1, now=NOON) is ClaimOutcome.FENCED
    key = StageKey(document, 1, Stage.EXTRACT)
    assert await catalogue.claim("other", key, owner="w", lease_s=1, now=NOON) is ClaimOutcome.FENCED
    assert not await catalogue.may_write("other", document, 1)
    assert not await catalogue.may_write(TENANT, document, 2)


async def test_release_claims_at_start(catalogue: SqlCatalogue, document: UUID):
    await claim(catalogue, document, Stage.EXTRACT)
    await finish(catalogue, document, Stage.EXTRACT)
    await claim(catalogue, document, Stage.EMBED)
    before = await state(catalogue, document)
    assert await catalogue.release_claims(now=NOON) == 1
    assert await catalogue.release_claims(now=NOON) == 0
    row = await state(catalogue, document)
    assert (row.stages[Stage.EMBED].state, row.status) == (StageState.WAITING, DocumentStatus.EMBEDDING)
    assert row.revision > before.revision
    assert await claim(catalogue, document, Stage.EMBED, "b") is ClaimOutcome.CLAIMED


async def test_many_stages_at_once_keep_their_own_rows(catalogue: SqlCatalogue):
    ids = [(await accept(catalogue, new_document(str(number)))).document.id for number in range(20)]

    async def run(document: UUID, stage: Stage) -> None:
        assert await claim(catalogue, document, stage) is ClaimOutcome.CLAIMED
        assert await catalogue.may_write(TENANT, document, 1)
        assert await finish(catalogue, document, stage)

    await asyncio.gather(*(run(document, stage) for document in ids for stage in Stage))
    for document in ids:
        row = await state(catalogue, document)
        assert {stage: entry.state for stage, entry in row.stages.items()} == dict.fromkeys(Stage, StageState.FINISHED)


async def test_a_cancelled_caller_does_not_take_its_batch_along(catalogue: SqlCatalogue, document: UUID):
    first = asyncio.create_task(claim(catalogue, document, Stage.EXTRACT))
    second = asyncio.create_task(claim(catalogue, document, Stage.EMBED))
    await asyncio.sleep(0)
    first.cancel()
    assert await second is ClaimOutcome.CLAIMED


async def test_the_last_stage_to_finish_is_told_so(catalogue: SqlCatalogue, document: UUID):
    *first, last = list(Stage)
    for stage in first:
        await claim(catalogue, document, stage)
        assert await finish(catalogue, document, stage) is FinishOutcome.FINISHED
    await claim(catalogue, document, last)
    assert await finish(catalogue, document, last) is FinishOutcome.SETTLED
    assert await finish(catalogue, document, first[0]) is FinishOutcome.SETTLED


async def test_stages_that_finish_at_the_same_time_do_not_both_miss_the_end(catalogue: SqlCatalogue, document: UUID):
    for stage in Stage:
        await claim(catalogue, document, stage)
    outcomes = await asyncio.gather(*(finish(catalogue, document, stage) for stage in Stage))
    assert outcomes.count(FinishOutcome.SETTLED) == 1

from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from eunoe_contracts.errors import DeadLetterNotFound, StaleGeneration
from eunoe_contracts.stages import ClaimOutcome, DocumentStatus, Stage, StageState
from eunoe_stores.catalogue.rows import DeadLetterQuery, DeadLetterRow, End, Page, Reopened
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import NOON, TENANT, accept, new_document
from eunoe_stream.ledger import Failure, StageKey

LATER = NOON + timedelta(hours=1)


def failure(code: str = "store_unavailable", minutes: int = 0) -> Failure:
    at = NOON + timedelta(minutes=minutes)
    return Failure(code, "m", 5, at, at, "", "topic")


async def give_up(catalogue: SqlCatalogue, name: str = "1", stage: Stage = Stage.EMBED, end: End | None = None) -> DeadLetterRow:
    document = (await accept(catalogue, new_document(name))).document.id
    key = StageKey(document, 1, Stage.EXTRACT)
    await catalogue.claim(TENANT, key, owner="w", lease_s=60, now=NOON)
    await catalogue.finish(TENANT, key, owner="w", now=NOON)
    await catalogue.claim(TENANT, StageKey(document, 1, stage), owner="w", lease_s=60, now=NOON)
    await catalogue.exhaust(TENANT, StageKey(document, 1, stage), failure())
    if end is not None:
        assert await catalogue.set_end(TENANT, document, 1, end, now=NOON)
    letters, _ = await catalogue.dead_letters(TENANT, DeadLetterQuery(document=document), Page())
    return letters[0]


FAILED = End(DocumentStatus.FAILED, "store_unavailable", "m")


async def test_replay_reopens_stage_and_document(catalogue: SqlCatalogue):
    letter = await give_up(catalogue, end=FAILED)
    assert letter.document is not None
    await catalogue.mark_published(TENANT, letter.document, 1)
    before = await catalogue.document(TENANT, letter.document)
    reopened = await catalogue.reopen(TENANT, letter.id, now=LATER)
    assert reopened == Reopened(TENANT, letter.document, 1, Stage.EMBED, "replay-1")
    row = await catalogue.document(TENANT, letter.document)
    assert row is not None
    assert before is not None
    assert (row.status, row.error_code, row.error_message, row.published) == (DocumentStatus.CHUNKING, "", "", True)
    assert (row.stages[Stage.EMBED].state, row.generation) == (StageState.WAITING, 1)
    assert row.revision > before.revision
    assert await catalogue.count_open() == 1
    key = StageKey(letter.document, 1, Stage.EMBED)
    assert await catalogue.claim(TENANT, key, owner="w", lease_s=60, now=LATER) is ClaimOutcome.CLAIMED


async def test_replay_twice_is_a_no_op(catalogue: SqlCatalogue):
    letter = await give_up(catalogue, end=FAILED)
    results = await asyncio.gather(*(catalogue.reopen(TENANT, letter.id, now=LATER) for _ in range(3)))
    assert [result is None for result in results].count(False) == 1
    assert (await catalogue.dead_letters(TENANT, DeadLetterQuery(), Page()))[1] == 0
    letters, total = await catalogue.dead_letters(TENANT, DeadLetterQuery(include_replayed=True), Page())
    assert (total, letters[0].replays, letters[0].replayed_at) == (1, 1, LATER)


async def test_failing_again_brings_the_letter_back(catalogue: SqlCatalogue):
    letter = await give_up(catalogue, end=FAILED)
    assert letter.document is not None
    await catalogue.reopen(TENANT, letter.id, now=LATER)
    await catalogue.exhaust(TENANT, StageKey(letter.document, 1, Stage.EMBED), failure("internal_error", 90))
    letters, total = await catalogue.dead_letters(TENANT, DeadLetterQuery(), Page())
    again = letters[0]
    assert (total, again.id, again.code, again.replays, again.replayed_at) == (1, letter.id, "internal_error", 1, None)
    assert (again.first_failed_at, again.last_failed_at) == (NOON, NOON + timedelta(minutes=90))
    reopened = await catalogue.reopen(TENANT, letter.id, now=LATER)
    assert reopened is not None
    assert reopened.salt == "replay-2"


async def test_replay_upgrades_a_degraded_document(catalogue: SqlCatalogue):
    letter = await give_up(catalogue, stage=Stage.PROPOSE, end=End(DocumentStatus.DONE, degraded=("propose",)))
    assert letter.document is not None
    await catalogue.reopen(TENANT, letter.id, now=LATER)
    assert await catalogue.finish(TENANT, StageKey(letter.document, 1, Stage.PROPOSE), owner="w", now=LATER)
    assert await catalogue.set_end(TENANT, letter.document, 1, End(DocumentStatus.DONE), now=LATER)
    row = await catalogue.document(TENANT, letter.document)
    assert row is not None
    assert (row.status, row.degraded) == (DocumentStatus.DONE, ())


async def test_replay_is_refused_after_a_newer_generation_an_erasure_or_a_cancel(catalogue: SqlCatalogue):
    newer = await give_up(catalogue, "newer", end=FAILED)
    await accept(catalogue, new_document("newer"))
    erased = await give_up(catalogue, "erased", end=FAILED)
    cancelled = await give_up(catalogue, "cancelled")
    assert erased.document is not None
    assert cancelled.document is not None
    await catalogue.erase(TENANT, erased.document, now=NOON)
    await catalogue.cancel(TENANT, cancelled.document, now=NOON)
    for letter in (newer, erased, cancelled):
        with pytest.raises(StaleGeneration):
            await catalogue.reopen(TENANT, letter.id, now=LATER)


async def test_letters_go_with_the_ledger_of_their_generation_when_a_newer_one_is_done(catalogue: SqlCatalogue):
    letter = await give_up(catalogue, end=FAILED)
    assert letter.document is not None
    other = await give_up(catalogue, "other")
    await accept(catalogue, new_document("1"))
    await catalogue.exhaust(TENANT, StageKey(letter.document, 2, Stage.PROPOSE), failure("newer"))
    await catalogue.drop_through(TENANT, letter.document, through_generation=1)
    assert (await catalogue.dead_letters(TENANT, DeadLetterQuery(), Page()))[1] == 3, "nothing is done yet"
    await catalogue.set_end(TENANT, letter.document, 2, End(DocumentStatus.DONE, degraded=("propose",)), now=NOON)
    for _ in range(2):
        await catalogue.drop_through(TENANT, letter.document, through_generation=1)
        letters, _ = await catalogue.dead_letters(TENANT, DeadLetterQuery(include_replayed=True), Page())
        assert {(each.document, each.generation, each.code) for each in letters} == {
            (letter.document, 2, "newer"),
            (other.document, 1, "store_unavailable"),
        }


async def test_letters_of_erased_documents_stay_without_what_they_told(catalogue: SqlCatalogue):
    letter = await give_up(catalogue, end=FAILED)
    assert letter.document is not None
    await catalogue.erase(TENANT, letter.document, now=NOON)
    await catalogue.drop_through(TENANT, letter.document, through_generation=1)
    letters, _ = await catalogue.dead_letters(TENANT, DeadLetterQuery(), Page())
    assert [(each.id, each.code, each.message) for each in letters] == [(letter.id, "store_unavailable", "")]


async def test_closing_a_cancelled_document_drops_its_letters(catalogue: SqlCatalogue):
    cancelled, kept = await give_up(catalogue, "cancelled"), await give_up(catalogue, "kept")
    for letter in (cancelled, kept):
        assert letter.document is not None
        await catalogue.close_cancelled(TENANT, letter.document, 1)
    assert (await catalogue.dead_letters(TENANT, DeadLetterQuery(), Page()))[1] == 2, "nothing is cancelled yet"
    assert cancelled.document is not None
    await catalogue.cancel(TENANT, cancelled.document, now=NOON)
    await catalogue.close_cancelled(TENANT, cancelled.document, 1)
    letters, _ = await catalogue.dead_letters(TENANT, DeadLetterQuery(), Page())
    assert [each.document for each in letters] == [kept.document]


async def test_unknown_letters_and_tenants(catalogue: SqlCatalogue):
    letter = await give_up(catalogue)
    for tenant, id_ in ((TENANT, uuid4()), ("other", letter.id)):
        with pytest.raises(DeadLetterNotFound):
            await catalogue.reopen(tenant, id_, now=LATER)
    assert (await catalogue.dead_letters("other", DeadLetterQuery(), Page()))[1] == 0
    assert (await catalogue.dead_letters(None, DeadLetterQuery(), Page()))[1] == 1


async def test_poison_is_recorded_once_and_cannot_be_replayed(catalogue: SqlCatalogue):
    document = (await accept(catalogue, new_document())).document.id
    for about in (document, document, None):
        event_id = "e" if about else "f"
        await catalogue.record_poison(TENANT, group="embedder", failure=failure("malformed_event"), event_id=event_id, document=about)
    letters, total = await catalogue.dead_letters(TENANT, DeadLetterQuery(code="malformed_event"), Page())
    assert total == 2
    assert {(letter.document, letter.document_name, letter.stage) for letter in letters} == {
        (document, "note.md", "embedder"),
        (None, "", "embedder"),
    }
    assert await catalogue.reopen(TENANT, letters[0].id, now=LATER) is None


async def test_filters(catalogue: SqlCatalogue):
    ids: list[UUID] = []
    for number in range(3):
        document = (await accept(catalogue, new_document(str(number)))).document.id
        await catalogue.exhaust(TENANT, StageKey(document, 1, Stage.EMBED), failure(f"code{number}", number))
        ids.append(document)

    async def found(**conditions: object) -> list[str]:
        letters, total = await catalogue.dead_letters(TENANT, DeadLetterQuery(**conditions), Page())  # type: ignore[arg-type]  # by name
        assert total == len(letters)
        return [letter.code for letter in letters]

    assert await found() == ["code2", "code1", "code0"]
    assert await found(code="code1") == ["code1"]
    assert await found(document=ids[0]) == ["code0"]
    assert await found(since=NOON + timedelta(minutes=1)) == ["code2", "code1"]
    assert await found(until=NOON + timedelta(minutes=1)) == ["code0"]
    one, _ = await catalogue.dead_letters(TENANT, DeadLetterQuery(), Page(limit=1, offset=1))
    assert await found(id=one[0].id) == ["code1"]

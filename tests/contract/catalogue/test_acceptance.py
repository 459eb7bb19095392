from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from eunoe_contracts.errors import IdempotencyConflict, QueueFull, StaleGeneration
from eunoe_contracts.stages import ClaimOutcome, DocumentStatus, Stage
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.catalogue.rows import AcceptAction, AcceptPlan, End
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import MANY, NOON, TENANT, accept, new_document
from eunoe_stream.ledger import StageKey, StageLedger

LATER = NOON + timedelta(hours=1)
LIMIT = 8


def test_has_the_shape_of_both_ports(catalogue: SqlCatalogue) -> None:
    as_catalogue: Catalogue = catalogue
    as_ledger: StageLedger = catalogue
    assert isinstance(as_catalogue, SqlCatalogue)
    assert isinstance(as_ledger, SqlCatalogue)


async def test_first_accept_creates(catalogue: SqlCatalogue):
    new = new_document(tags=("a",), metadata={"k": 1}, warnings=("odd name",), event_time=NOON, custom_id="c", source_url="u")
    accepted = await accept(catalogue, new)
    assert accepted.action is AcceptAction.CREATE
    row = accepted.document
    assert (row.generation, row.status, row.revision, row.published) == (1, DocumentStatus.QUEUED, 1, False)
    assert (row.tags, row.metadata, row.warnings, row.event_time) == (("a",), {"k": 1}, ("odd name",), NOON)
    assert await catalogue.document(TENANT, new.id) == row
    assert await catalogue.document("other", new.id) is None


async def test_repeated_post_of_an_open_document_merges_tags_and_metadata(catalogue: SqlCatalogue):
    await accept(catalogue, new_document(tags=("a",), metadata={"k": 1}))
    again = await accept(catalogue, new_document(tags=("b", "a"), metadata={"l": 2}), now=LATER)
    assert (again.action, again.updated) == (AcceptAction.DEDUPLICATE, ("tags", "metadata"))
    assert (again.document.tags, again.document.metadata, again.document.generation) == (("a", "b"), {"k": 1, "l": 2}, 1)
    assert again.document.revision == 2
    assert await catalogue.document(TENANT, new_document().id) == again.document


async def test_repeated_post_with_nothing_new_changes_nothing(catalogue: SqlCatalogue):
    first = await accept(catalogue, new_document(tags=("a",)))
    again = await accept(catalogue, new_document(tags=("a",)), now=LATER)
    assert again.updated == ()
    assert again.document == first.document


@pytest.mark.parametrize("status", [DocumentStatus.FAILED, DocumentStatus.CANCELLED])
async def test_post_after_a_bad_end_starts_a_generation(catalogue: SqlCatalogue, status: DocumentStatus):
    new = new_document()
    first = await accept(catalogue, new)
    await catalogue.mark_published(TENANT, new.id, 1)
    await catalogue.claim(TENANT, StageKey(new.id, 1, Stage.EXTRACT), owner="w", lease_s=60, now=NOON)
    await catalogue.set_end(TENANT, new.id, 1, End(status, "corrupt_document", "m"), now=NOON)
    before = await catalogue.document(TENANT, new.id)
    assert before is not None
    again = await accept(catalogue, new, now=LATER)
    row = again.document
    assert (again.action, row.generation, row.status, row.published) == (AcceptAction.REACCEPT, 2, DocumentStatus.QUEUED, False)
    assert (row.error_code, row.error_message, row.stages, row.created_at) == ("", "", {}, NOON)
    assert row.revision > before.revision
    assert row.sequence >= first.document.sequence
    assert not await catalogue.may_write(TENANT, new.id, 1)
    assert await catalogue.may_write(TENANT, new.id, 2)
    assert await catalogue.document(TENANT, new.id) == row


async def test_reaccepted_document_is_the_newest(catalogue: SqlCatalogue):
    old, other = new_document("old"), new_document("other")
    await accept(catalogue, old)
    newest = await accept(catalogue, other)
    await catalogue.set_end(TENANT, old.id, 1, End(DocumentStatus.FAILED), now=NOON)
    again = await accept(catalogue, old)
    assert again.document.sequence > newest.document.sequence


async def test_reprocess_of_a_done_document_starts_a_generation(catalogue: SqlCatalogue):
    new = new_document()
    await accept(catalogue, new)
    await catalogue.set_end(TENANT, new.id, 1, End(DocumentStatus.DONE, counts={"passages": 1}), now=NOON)
    assert (await accept(catalogue, new)).action is AcceptAction.DEDUPLICATE
    again = await accept(catalogue, new, reprocess=True)
    assert (again.action, again.document.generation, again.document.counts) == (AcceptAction.REACCEPT, 2, {})


async def test_same_id_with_another_body_is_a_conflict(catalogue: SqlCatalogue):
    await accept(catalogue, new_document())
    with pytest.raises(IdempotencyConflict):
        await catalogue.plan_accept(TENANT, new_document(fingerprint="other"))
    with pytest.raises(IdempotencyConflict):
        await catalogue.accept(
            TENANT, new_document(fingerprint="other"), plan=AcceptPlan(AcceptAction.DEDUPLICATE, 1), queue_limit=MANY, now=NOON
        )


async def test_after_an_erasure_any_body_is_accepted(catalogue: SqlCatalogue):
    new = new_document()
    await accept(catalogue, new)
    await catalogue.erase(TENANT, new.id, now=NOON)
    again = await accept(catalogue, new_document(fingerprint="other"), now=LATER)
    assert (again.action, again.document.generation, again.document.created_at) == (AcceptAction.REACCEPT, 2, LATER)
    assert await catalogue.document(TENANT, new.id) is not None


async def test_two_posts_at_once_make_one_document(catalogue: SqlCatalogue):
    new = new_document()
    plan = await catalogue.plan_accept(TENANT, new)
    results = await asyncio.gather(
        *(catalogue.accept(TENANT, new, plan=plan, queue_limit=MANY, now=NOON) for _ in range(5)), return_exceptions=True
    )
    assert sorted(type(result).__name__ for result in results) == ["Accepted", *["StaleGeneration"] * 4]
    assert (await catalogue.plan_accept(TENANT, new)).action is AcceptAction.DEDUPLICATE


@pytest.mark.parametrize(
    "plan",
    [
        AcceptPlan(AcceptAction.CREATE, 1),
        AcceptPlan(AcceptAction.REACCEPT, 3),
        AcceptPlan(AcceptAction.DEDUPLICATE, 2),
    ],
)
async def test_a_plan_that_no_longer_fits_is_stale(catalogue: SqlCatalogue, plan: AcceptPlan):
    new = new_document()
    await accept(catalogue, new)
    with pytest.raises(StaleGeneration):
        await catalogue.accept(TENANT, new, plan=plan, queue_limit=MANY, now=NOON)


async def test_deduplicating_a_document_that_failed_meanwhile_is_stale(catalogue: SqlCatalogue):
    new = new_document()
    await accept(catalogue, new)
    plan = await catalogue.plan_accept(TENANT, new)
    await catalogue.set_end(TENANT, new.id, 1, End(DocumentStatus.FAILED), now=NOON)
    with pytest.raises(StaleGeneration):
        await catalogue.accept(TENANT, new, plan=plan, queue_limit=MANY, now=NOON)


async def test_the_queue_limit_counts_what_is_not_committed_yet(catalogue: SqlCatalogue) -> None:
    async def post(name: str) -> bool:
        new = new_document(name)
        plan = await catalogue.plan_accept(TENANT, new)
        try:
            await catalogue.accept(TENANT, new, plan=plan, queue_limit=LIMIT, now=NOON)
        except QueueFull:
            return False
        return True

    opened = 0
    for attempt in range(4):  # a refusal may be early by those in flight, so the room is full after a few rounds
        opened += sum(await asyncio.gather(*(post(f"{attempt}-{number}") for number in range(2 * LIMIT))))
    assert opened == LIMIT == await catalogue.count_open()


async def test_queue_limit(catalogue: SqlCatalogue):
    async def post(name: str) -> None:
        new = new_document(name)
        plan = await catalogue.plan_accept(TENANT, new)
        await catalogue.accept(TENANT, new, plan=plan, queue_limit=2, now=NOON)

    await post("1")
    await post("2")
    with pytest.raises(QueueFull):
        await post("3")
    await post("1")  # a repeated post needs no room
    await catalogue.set_end(TENANT, new_document("1").id, 1, End(DocumentStatus.DONE), now=NOON)
    assert await catalogue.count_open() == 1
    await post("3")
    assert await catalogue.count_open() == 2


async def test_accept_fences_the_older_generation(catalogue: SqlCatalogue):
    new = new_document()
    await accept(catalogue, new)
    await accept(catalogue, new, reprocess=True)
    key = StageKey(new.id, 1, Stage.EXTRACT)
    assert await catalogue.claim(TENANT, key, owner="w", lease_s=60, now=NOON) is ClaimOutcome.FENCED
    assert not await catalogue.finish(TENANT, key, owner="w", now=NOON)

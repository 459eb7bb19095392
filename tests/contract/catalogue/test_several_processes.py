"""What several processes on one catalogue need: leases, and a fence for bytes without a row."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from eunoe_contracts.errors import StaleGeneration
from eunoe_contracts.stages import DocumentStatus
from eunoe_stores.catalogue.rows import AcceptAction, DocumentQuery, Page
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import MANY, NOON, TENANT, accept, new_document

LATER = NOON + timedelta(seconds=31)


async def test_one_of_many_gets_a_lease_and_keeps_it(catalogue: SqlCatalogue) -> None:
    owners = [f"gateway-{number}" for number in range(8)]
    taken = await asyncio.gather(*(catalogue.take_lease("sweeper", owner=each, lease_s=30, now=NOON) for each in owners))
    (holder,) = [each for each, got in zip(owners, taken, strict=True) if got]
    assert await catalogue.take_lease("sweeper", owner=holder, lease_s=30, now=NOON)
    assert not await catalogue.take_lease("sweeper", owner="other", lease_s=30, now=NOON)
    assert await catalogue.take_lease("another", owner="other", lease_s=30, now=NOON)


async def test_an_old_lease_goes_to_one_other(catalogue: SqlCatalogue) -> None:
    assert await catalogue.take_lease("sweeper", owner="a", lease_s=30, now=NOON)
    taken = await asyncio.gather(*(catalogue.take_lease("sweeper", owner=each, lease_s=30, now=LATER) for each in "bcde"))
    assert sum(taken) == 1
    assert not await catalogue.take_lease("sweeper", owner="a", lease_s=30, now=LATER)


async def test_what_is_buried_cannot_be_accepted_by_an_older_plan(catalogue: SqlCatalogue) -> None:
    new = new_document()
    plan = await catalogue.plan_accept(TENANT, new)
    assert await catalogue.bury_unaccepted(TENANT, new.id, generation=1, now=NOON)
    assert await catalogue.bury_unaccepted(TENANT, new.id, generation=1, now=NOON)
    with pytest.raises(StaleGeneration):
        await catalogue.accept(TENANT, new, plan=plan, queue_limit=MANY, now=NOON)
    assert await catalogue.document(TENANT, new.id) is None
    assert await catalogue.list_documents(TENANT, DocumentQuery(), Page(10)) == ([], 0)
    assert await catalogue.count_open() == 0
    again = await accept(catalogue, new)
    assert (again.action, again.document.generation) == (AcceptAction.REACCEPT, 2)


async def test_a_grave_is_dug_deeper_but_never_over_a_row(catalogue: SqlCatalogue) -> None:
    new = new_document()
    await accept(catalogue, new)
    assert not await catalogue.bury_unaccepted(TENANT, new.id, generation=2, now=NOON)
    row = await catalogue.document(TENANT, new.id)
    assert row is not None
    assert row.generation == 1
    await catalogue.erase(TENANT, new.id, now=NOON)
    plan = await catalogue.plan_accept(TENANT, new)
    assert plan.generation == 2
    assert await catalogue.bury_unaccepted(TENANT, new.id, generation=2, now=NOON)
    with pytest.raises(StaleGeneration):
        await catalogue.accept(TENANT, new, plan=plan, queue_limit=MANY, now=NOON)
    assert (await accept(catalogue, new)).document.generation == 3


async def test_of_a_burial_and_an_acceptance_at_once_one_wins(catalogue: SqlCatalogue) -> None:
    for number in range(12):
        new = new_document(f"note-{number}.md")
        plan = await catalogue.plan_accept(TENANT, new)
        accepted, buried = await asyncio.gather(
            catalogue.accept(TENANT, new, plan=plan, queue_limit=MANY, now=NOON),
            catalogue.bury_unaccepted(TENANT, new.id, generation=1, now=NOON),
            return_exceptions=True,
        )
        row = await catalogue.document(TENANT, new.id)
        if isinstance(accepted, StaleGeneration):
            assert (buried, row) == (True, None)
        else:
            assert buried is False
            assert row is not None
            assert row.status is DocumentStatus.QUEUED

"""The outbox of edits: remembered with the edit, forgotten when its event is on the log."""

from __future__ import annotations

from datetime import timedelta

from eunoe_contracts.identity import root_id
from eunoe_stores.catalogue.rows import AcceptAction, Edit
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import CONTAINER, NOON, TENANT, accept, memory, new_document

SOON, LATER = NOON + timedelta(seconds=1), NOON + timedelta(hours=1)


async def left(catalogue: SqlCatalogue, *, limit: int = 10) -> list[Edit]:
    return list(await catalogue.unpublished_edits(before=LATER + timedelta(seconds=1), limit=limit))


async def test_edits_are_remembered_until_they_are_published(catalogue: SqlCatalogue) -> None:
    document = (await accept(catalogue, new_document("1"))).document.id
    a, b = memory(document, "A."), memory(document, "B.")
    await catalogue.put_memories(TENANT, document, 1, [a, b], now=NOON)
    await catalogue.update_memory(TENANT, a.id, confidence=0.2, now=NOON)
    assert await left(catalogue) == [], "no caller did it"
    await catalogue.update_memory(TENANT, a.id, tags=("mine",), edited=True, now=SOON)
    await catalogue.delete_memory(TENANT, b.id, now=LATER)
    edits = [Edit(TENANT, CONTAINER, a.id, SOON), Edit(TENANT, CONTAINER, b.id, LATER, deleted=True)]
    assert await left(catalogue) == edits
    assert await left(catalogue, limit=1) == edits[:1]
    assert await catalogue.unpublished_edits(before=SOON, limit=10) == []
    await catalogue.edit_published(edits[0])
    await catalogue.edit_published(edits[0])
    assert await left(catalogue) == edits[1:]


async def test_a_later_edit_is_not_forgotten_with_the_first(catalogue: SqlCatalogue) -> None:
    document = (await accept(catalogue, new_document("1"))).document.id
    a = memory(document, "A.")
    await catalogue.put_memories(TENANT, document, 1, [a], now=NOON)
    await catalogue.update_memory(TENANT, a.id, tags=("one",), edited=True, now=SOON)
    await catalogue.update_memory(TENANT, a.id, tags=("two",), edited=True, now=NOON)  # another gateway, whose clock is behind
    await catalogue.edit_published(Edit(TENANT, CONTAINER, a.id, SOON))
    assert await left(catalogue) == [Edit(TENANT, CONTAINER, a.id, NOON)]
    await catalogue.delete_memory(TENANT, a.id, now=LATER)
    assert await left(catalogue) == [Edit(TENANT, CONTAINER, a.id, LATER, deleted=True)]


async def test_what_a_repeated_post_merges_is_an_edit_of_the_whole_document(catalogue: SqlCatalogue) -> None:
    first = await accept(catalogue, new_document("1"))
    same = await accept(catalogue, new_document("1"), now=SOON)
    assert (same.action, same.updated, await left(catalogue)) == (AcceptAction.DEDUPLICATE, (), [])
    merged = await accept(catalogue, new_document("1", tags=("river",)), now=LATER)
    assert merged.updated == ("tags",)
    assert await left(catalogue) == [Edit(TENANT, CONTAINER, root_id(first.document.id), LATER)]

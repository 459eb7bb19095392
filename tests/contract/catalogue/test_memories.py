from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from eunoe_contracts.content import Entity, Kind, Memory
from eunoe_contracts.errors import MemoryNotFound
from eunoe_contracts.identity import entity_id
from eunoe_contracts.stages import Stage
from eunoe_stores.catalogue.rows import OrphanedMemory, Page, RemovedMemory
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import CONTAINER, NOON, TENANT, accept, memory, new_document
from eunoe_stream.ledger import StageKey

LATER = NOON + timedelta(hours=1)
ANN = Entity(entity_id(TENANT, CONTAINER, "Ann", "person"), CONTAINER, "Ann", "person")


@pytest.fixture
async def first(catalogue: SqlCatalogue) -> UUID:
    return (await accept(catalogue, new_document("1"))).document.id


@pytest.fixture
async def second(catalogue: SqlCatalogue) -> UUID:
    return (await accept(catalogue, new_document("2"))).document.id


async def put(catalogue: SqlCatalogue, document: UUID, *memories: Memory, generation: int = 1) -> list[UUID]:
    return [row.id for row in await catalogue.put_memories(TENANT, document, generation, memories, now=NOON)]


async def test_memories_come_back_as_they_were(catalogue: SqlCatalogue, first: UUID):
    fact = memory(first, "Ann likes tea.", tags=("tea",), entities=(ANN,), event_time=NOON, metadata={"k": [1]}, confidence=0.5)
    rows = await catalogue.put_memories(TENANT, first, 1, [fact], now=NOON)
    assert [(row.id, row.text, row.kind, row.epoch, row.sources) for row in rows] == [(fact.id, fact.text, "fact", 1, (first,))]
    row = rows[0]
    assert (row.tags, row.metadata, row.confidence, row.event_time, row.is_latest) == (("tea",), {"k": [1]}, 0.5, NOON, True)
    assert await catalogue.memories(TENANT, [fact.id]) == {fact.id: row}
    assert await catalogue.memories("other", [fact.id]) == {}
    assert await catalogue.memories_of(TENANT, first, 1) == [(row, fact.unit, (ANN,))]


async def test_the_same_statement_has_many_sources(catalogue: SqlCatalogue, first: UUID, second: UUID):
    fact = memory(first, "Ann likes tea.", tags=("a",))
    await put(catalogue, first, fact)
    await put(catalogue, second, memory(second, "ann likes tea", tags=("b",), confidence=0.9))
    row = (await catalogue.memories(TENANT, [fact.id]))[fact.id]
    assert (row.sources, row.epoch, row.text, row.tags, row.confidence) == ((first, second), 1, "Ann likes tea.", ("a", "b"), 0.9)
    assert await catalogue.drop_sources(TENANT, first, through_generation=1) == []
    assert (await catalogue.memories(TENANT, [fact.id]))[fact.id].sources == (second,)
    assert await catalogue.drop_sources(TENANT, second, through_generation=1) == [OrphanedMemory(fact.id, 1)]
    assert await catalogue.drop_sources(TENANT, second, through_generation=1) == []
    assert await catalogue.memories(TENANT, [fact.id]) == {}


async def test_the_epoch_grows_when_a_source_comes_back(catalogue: SqlCatalogue, first: UUID, second: UUID):
    fact = memory(first, "Ann likes tea.", tags=("old",))
    await put(catalogue, first, fact)
    await catalogue.drop_sources(TENANT, first, through_generation=1)
    rows = await catalogue.put_memories(TENANT, second, 1, [memory(second, "Ann likes tea.")], now=LATER)
    assert [(row.epoch, row.tags, row.created_at, row.sources) for row in rows] == [(2, (), LATER, (second,))]


async def test_putting_again_is_harmless_and_replaces_the_sources(catalogue: SqlCatalogue, first: UUID):
    a, b = memory(first, "A."), memory(first, "B.")
    assert await put(catalogue, first, a, b, a) == [a.id, b.id]
    assert await put(catalogue, first, a, b) == [a.id, b.id]
    assert (await catalogue.memories(TENANT, [a.id]))[a.id].epoch == 1
    assert await put(catalogue, first, b) == [b.id]
    assert set(await catalogue.memories(TENANT, [a.id, b.id])) == {b.id}
    assert await put(catalogue, first, a, b) == [a.id, b.id]
    assert (await catalogue.memories(TENANT, [a.id]))[a.id].epoch == 2


async def test_a_fenced_generation_writes_nothing(catalogue: SqlCatalogue, first: UUID):
    await accept(catalogue, new_document("1"), reprocess=True)
    assert await put(catalogue, first, memory(first, "A.")) == []
    assert (await catalogue.list_memories(TENANT, container="", document=None, kinds=frozenset(), page=Page()))[1] == 0


async def test_generations_are_sources_apart(catalogue: SqlCatalogue, first: UUID):
    a, b = memory(first, "A."), memory(first, "B.")
    await put(catalogue, first, a, b)
    await accept(catalogue, new_document("1"), reprocess=True)
    await put(catalogue, first, memory(first, "A.", generation=2), generation=2)
    assert (await catalogue.memories(TENANT, [a.id]))[a.id].sources == (first,)
    assert await catalogue.drop_sources(TENANT, first, through_generation=1) == [OrphanedMemory(b.id, 1)]
    assert (await catalogue.memories(TENANT, [a.id]))[a.id].epoch == 1
    assert [row.id for row, _, _ in await catalogue.memories_of(TENANT, first, 2)] == [a.id]
    assert await catalogue.memories_of(TENANT, first, 1) == []


async def test_an_erased_source_does_not_count(catalogue: SqlCatalogue, first: UUID, second: UUID):
    a, b = memory(first, "A."), memory(first, "B.")
    await put(catalogue, first, a, b)
    await put(catalogue, second, memory(second, "B."))
    await catalogue.erase(TENANT, first, now=NOON)
    assert {id_: row.sources for id_, row in (await catalogue.memories(TENANT, [a.id, b.id])).items()} == {b.id: (second,)}
    assert (await catalogue.stats(TENANT))["memories"] == {"total": 1, "embedded": 0, "fact": 1}
    for _ in range(2):
        assert await catalogue.bury_memories(TENANT, first, through_generation=1) == [OrphanedMemory(a.id, 1)]
    await put(catalogue, second, memory(second, "A."), memory(second, "B."))
    assert (await catalogue.memories(TENANT, [a.id]))[a.id].epoch == 2
    assert await catalogue.bury_memories(TENANT, first, through_generation=1) == [OrphanedMemory(a.id, 1)]
    assert await catalogue.drop_sources(TENANT, first, through_generation=1) == []
    assert await catalogue.bury_memories(TENANT, first, through_generation=1) == []


async def test_burying_spares_what_a_newer_generation_or_another_document_holds(catalogue: SqlCatalogue, first: UUID, second: UUID):
    old, kept, both = memory(first, "Old."), memory(first, "Kept."), memory(first, "Both.")
    await put(catalogue, first, old, kept, both)
    await put(catalogue, second, memory(second, "Both."))
    await accept(catalogue, new_document("1"), reprocess=True)
    await put(catalogue, first, memory(first, "Kept.", generation=2), generation=2)
    assert await catalogue.bury_memories(TENANT, first, through_generation=1) == [OrphanedMemory(old.id, 1)]
    assert set(await catalogue.memories(TENANT, [old.id, kept.id, both.id])) == {kept.id, both.id}


async def test_list_by_container_document_and_kind(catalogue: SqlCatalogue, first: UUID, second: UUID):
    await put(catalogue, first, memory(first, "A."), memory(first, "T.", kind=Kind.TASK))
    await catalogue.put_memories(TENANT, second, 1, [memory(second, "C.", container="x")], now=LATER)

    async def texts(container: str = "", document: UUID | None = None, kinds: frozenset[Kind] = frozenset()) -> list[str]:
        rows, total = await catalogue.list_memories(TENANT, container=container, document=document, kinds=kinds, page=Page())
        assert total == len(rows)
        return [row.text for row in rows]

    assert (await texts())[0] == "C."
    assert sorted(await texts(CONTAINER)) == ["A.", "T."]
    assert await texts(document=second) == ["C."]
    assert await texts(kinds=frozenset({Kind.TASK})) == ["T."]
    rows, total = await catalogue.list_memories(TENANT, container="", document=None, kinds=frozenset(), page=Page(1, 1))
    assert (len(rows), total) == (1, 3)


async def test_update_changes_what_is_given(catalogue: SqlCatalogue, first: UUID):
    a, b = memory(first, "A.", tags=("x",)), memory(first, "B.")
    await put(catalogue, first, a, b)
    row = await catalogue.update_memory(TENANT, a.id, is_latest=False, superseded_by=b.id, now=LATER)
    assert (row.is_latest, row.superseded_by, row.tags, row.updated_at) == (False, b.id, ("x",), LATER)
    row = await catalogue.update_memory(TENANT, a.id, metadata={"k": 1}, tags=("y", "y"), confidence=0.1, is_latest=True, now=LATER)
    assert (row.metadata, row.tags, row.confidence, row.is_latest, row.superseded_by) == ({"k": 1}, ("y",), 0.1, True, None)
    for tenant, id_ in (("other", a.id), (TENANT, memory(first, "unknown").id)):
        with pytest.raises(MemoryNotFound):
            await catalogue.update_memory(tenant, id_, tags=(), now=NOON)


async def test_delete_removes_it_with_all_sources(catalogue: SqlCatalogue, first: UUID):
    a = memory(first, "A.")
    await put(catalogue, first, a)
    assert await catalogue.delete_memory("other", a.id, now=NOON) is None
    assert await catalogue.delete_memory(TENANT, a.id, now=LATER) == OrphanedMemory(a.id, 1)
    assert await catalogue.delete_memory(TENANT, a.id, now=LATER) is None
    assert await catalogue.memories_of(TENANT, first, 1) == []


async def test_edits_of_callers_are_remembered(catalogue: SqlCatalogue, first: UUID, second: UUID):
    async def edited() -> list[str]:
        everything = {"container": "", "document": None, "kinds": frozenset[Kind](), "page": Page()}
        rows, total = await catalogue.list_memories(TENANT, **everything, edited=True)
        assert total == len(rows)
        return [row.text for row in rows]

    a, b, c = memory(first, "A."), memory(first, "B."), memory(first, "C.")
    await put(catalogue, first, a, b, c)
    await catalogue.update_memory(TENANT, a.id, confidence=0.2, now=NOON)
    assert await edited() == []
    assert (await catalogue.update_memory(TENANT, b.id, tags=("mine",), edited=True, now=LATER)).edited_at == LATER
    await put(catalogue, first, a, b, c)  # the stage once more
    assert await edited() == ["B."]
    await catalogue.delete_memory(TENANT, c.id, now=LATER)
    assert await catalogue.removed_memories(TENANT, Page()) == ([RemovedMemory(c.id, CONTAINER, "fact", LATER)], 1)
    assert await catalogue.removed_memories(TENANT, Page(1, 1)) == ([], 1)
    assert await catalogue.removed_memories("other", Page()) == ([], 0)
    await put(catalogue, second, memory(second, "C."))
    assert await catalogue.removed_memories(TENANT, Page()) == ([], 0)
    await catalogue.erase(TENANT, first, now=NOON)
    assert (await edited(), await catalogue.removed_memories(TENANT, Page())) == ([], ([], 0))


async def test_embedded_memories_are_counted(catalogue: SqlCatalogue, first: UUID):
    await put(catalogue, first, memory(first, "A."))
    await catalogue.finish(TENANT, StageKey(first, 1, Stage.EMBED_MEMORIES), owner="w", now=NOON)
    assert (await catalogue.stats(TENANT))["memories"]["embedded"] == 1


async def test_more_memories_than_one_statement_takes(catalogue: SqlCatalogue, first: UUID):
    many = [memory(first, f"Fact {number}.") for number in range(1200)]
    assert len(await put(catalogue, first, *many)) == 1200
    assert len(await catalogue.drop_sources(TENANT, first, through_generation=1)) == 1200


async def test_without_memories_the_stages_that_work_on_them_are_finished(catalogue: SqlCatalogue, first: UUID):
    async def states() -> dict[str, str]:
        row = await catalogue.document(TENANT, first)
        assert row is not None
        return {stage.value: str(each.state) for stage, each in row.stages.items()}

    await put(catalogue, first)
    assert await states() == {"embed_memories": "finished", "relate": "finished"}
    await put(catalogue, first, memory(first, "Ann likes tea."))  # a repetition of the stage finds one after all
    assert await states() == {"embed_memories": "waiting", "relate": "waiting"}
    key = StageKey(first, 1, Stage.EMBED_MEMORIES)
    await catalogue.claim(TENANT, key, owner="a", lease_s=30, now=NOON)
    await catalogue.finish(TENANT, key, owner="a", now=NOON)
    await put(catalogue, first, memory(first, "Ann likes tea."))
    assert await states() == {"embed_memories": "finished", "relate": "waiting"}
    await put(catalogue, first)
    await put(catalogue, first, memory(first, "Ann likes tea."))  # what was embedded is told again, as nobody hears it a second time
    assert await states() == {"embed_memories": "waiting", "relate": "waiting"}


async def test_memories_of_a_fenced_generation_finish_nothing(catalogue: SqlCatalogue, first: UUID):
    await put(catalogue, first, generation=2)
    row = await catalogue.document(TENANT, first)
    assert row is not None
    assert row.stages == {}

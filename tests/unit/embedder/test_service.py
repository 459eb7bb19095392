"""The embedder's use cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.content import Kind
from eunoe_contracts.errors import MalformedEvent, ModelUnavailable
from eunoe_contracts.events import Event, document_event
from eunoe_contracts.identity import event_id, root_id, row_key, session_id
from eunoe_embedder import indexing
from eunoe_embedder.service import embed, embed_memories, erase, follow_change, undo
from eunoe_models.testing import HashingEmbedder
from eunoe_stores.vectors.port import IndexFilter, IndexRow

ANY = IndexFilter()


def extracted(row: Any) -> Event:
    return document_event(
        topics.DOCUMENT_EXTRACTED, events_pb2.DocumentExtracted(tenant="t", document_id=str(row.id), generation=row.generation)
    )


def proposed(row: Any, *memories: Any) -> Event:
    body = events_pb2.MemoriesProposed(
        tenant="t",
        document_id=str(row.id),
        generation=row.generation,
        container=row.container,
        memory_ids=[str(memory.id) for memory in memories],
    )
    return document_event(topics.MEMORIES_PROPOSED, body)


def erased(row: Any) -> Event:
    return document_event(topics.DOCUMENT_ERASED, events_pb2.DocumentErased(tenant="t", document_id=str(row.id), generation=row.generation))


def changed(memory: UUID | str, *, deleted: bool = False) -> Event:
    body = events_pb2.MemoryChanged(tenant="t", container="team.a", memory_id=str(memory), revision=1, deleted=deleted)
    return Event(event_id(topics.MEMORY_CHANGED, "t", str(memory), 0, "1"), topics.MEMORY_CHANGED, "t/team.a", "t", body)


def rows(index: Any) -> dict[UUID, IndexRow]:
    return dict(index._tenants.get("t", {}))


async def test_passages_become_rows_with_vectors_of_their_context(shelf: Any, index: Any, model: HashingEmbedder, make: Any) -> None:
    row = make.document()
    section = make.passage(row, 9, "all of it", kind=Kind.SECTION, indexed=False)
    units = [make.passage(row, 0, "refunds within thirty days"), make.passage(row, 1, "opening hours")]
    shelf.add(row, section, *units)
    assert await embed(extracted(row), catalogue=shelf, vectors=index, model=model) == []
    written = rows(index)
    assert set(written) == {row_key(unit.id, 1) for unit in units}
    first = written[row_key(units[0].id, 1)]
    assert (first.body, first.context) == ("refunds within thirty days", "Handbook\nrefunds within thirty days")
    assert (first.parent, first.position, first.title, first.tags) == (root_id(row.id), 0, "Handbook", ("x",))
    assert (first.attributes, first.event_time, first.created_at) == ({"user_id": "u1"}, row.event_time, row.created_at)
    (expected,) = await model.embed([units[0].context])
    assert first.vector is not None
    assert float(first.vector @ expected) == pytest.approx(1)
    (query,) = await model.embed(["refunds"])
    assert (await index.dense("t", query, ANY, 1))[0].key == first.key


async def test_without_a_model_rows_have_no_vectors_and_words_are_found(shelf: Any, index: Any, make: Any) -> None:
    row = make.document()
    shelf.add(row, make.passage(row, 0, "refunds within thirty days"))
    for _ in range(2):
        await embed(extracted(row), catalogue=shelf, vectors=index, model=None)
    (only,) = rows(index).values()
    assert only.vector is None
    assert len(await index.bm25_body("t", ["refund"], ANY, 5)) == 1


async def test_rows_written_without_a_model_get_their_vectors_later(shelf: Any, index: Any, model: HashingEmbedder, make: Any) -> None:
    row = make.document()
    shelf.add(row, make.passage(row, 0, "refunds"))
    await embed(extracted(row), catalogue=shelf, vectors=index, model=None)
    await embed(extracted(row), catalogue=shelf, vectors=index, model=model)
    assert all(each.vector is not None for each in rows(index).values())


async def test_a_document_without_indexed_units_is_fine(shelf: Any, index: Any, model: HashingEmbedder, make: Any) -> None:
    row = make.document()
    shelf.add(row, make.passage(row, 0, "all of it", kind=Kind.SECTION, indexed=False))
    assert await embed(extracted(row), catalogue=shelf, vectors=index, model=model) == []
    assert rows(index) == {}
    assert model.calls == []


async def test_a_long_document_goes_on_where_a_failure_stopped_it(
    shelf: Any, index: Any, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(HashingEmbedder):
        async def embed(self, texts: Sequence[str], **options: Any) -> Any:
            self.failing = len(self.calls) == 3
            return await super().embed(texts, **options)

    monkeypatch.setattr(indexing, "BATCH", 4)
    row = make.document()
    shelf.add(row, *(make.passage(row, at, f"passage {at}") for at in range(18)))
    failing, working = Failing(), HashingEmbedder()
    with pytest.raises(ModelUnavailable):
        await embed(extracted(row), catalogue=shelf, vectors=index, model=failing)
    assert await index.count("t") == 12
    await embed(extracted(row), catalogue=shelf, vectors=index, model=working)
    assert await index.count("t") == 18
    assert [count for _, count in working.calls] == [4, 2]


async def test_what_a_repeated_post_added_meanwhile_comes_with_an_event_of_its_own(shelf: Any, index: Any, make: Any) -> None:
    row = make.document(tags=("a",))
    shelf.add(row, make.passage(row, 0, "words"))

    class Merging(HashingEmbedder):
        async def embed(self, texts: Sequence[str], **options: Any) -> Any:
            shelf.documents[row.id] = replace(row, tags=("a", "b"))
            return await super().embed(texts, **options)

    [event] = await embed(extracted(row), catalogue=shelf, vectors=index, model=Merging())
    assert (event.topic, event.body.memory_id, event.body.deleted) == (topics.MEMORY_CHANGED, str(root_id(row.id)), False)
    assert await embed(extracted(row), catalogue=shelf, vectors=index, model=HashingEmbedder()) == []


async def test_turns_share_their_session_and_stand_at_their_position(shelf: Any, index: Any, model: HashingEmbedder, make: Any) -> None:
    for number, position in ((1, 7), (2, None), (3, True)):
        row = make.document(number, metadata={"session": "s1", **({} if position is None else {"position": position})})
        unit = make.passage(row, 4, "hello")
        shelf.add(row, unit)
        await embed(extracted(row), catalogue=shelf, vectors=index, model=model)
        written = rows(index)[row_key(unit.id, 1)]
        assert written.parent == session_id("t", "team.a", "s1")
        assert written.position == (7 if number == 1 else 4)


async def test_a_root_stands_before_its_passages(shelf: Any, index: Any, model: HashingEmbedder, make: Any) -> None:
    row = make.document()
    root = make.passage(row, 0, "a summary", id=root_id(row.id), kind=Kind.ROOT, parent=None)
    shelf.add(row, root, make.passage(row, 0, "first"))
    await embed(extracted(row), catalogue=shelf, vectors=index, model=model)
    assert [(ref.kind, ref.position) for ref in await index.rows_of_parent("t", root.id)] == [(Kind.ROOT, -1), (Kind.PASSAGE, 0)]


@pytest.mark.parametrize("state", ["unknown", "newer"])
async def test_old_events_do_nothing(shelf: Any, index: Any, model: HashingEmbedder, make: Any, state: str) -> None:
    row = make.document()
    if state == "newer":
        shelf.add(row, make.passage(row, 0, "old"))
        shelf.documents[row.id] = replace(row, generation=2)
    assert await embed(extracted(row), catalogue=shelf, vectors=index, model=model) == []
    memory = make.memory("old", row.id)
    (event,) = await embed_memories(proposed(row, memory), catalogue=shelf, vectors=index, model=model)
    assert list(event.body.memory_ids) == []
    assert rows(index) == {}


async def test_memories_are_indexed_and_announced(shelf: Any, index: Any, model: HashingEmbedder, make: Any) -> None:
    row = make.document()
    memory = make.memory("Anna likes curry", row.id, epoch=3, metadata={"user_id": "u2", "topic": "food"}, tags=("diet",))
    gone = make.memory("not there any more", row.id)
    shelf.add(row, memories=[memory])
    cause = proposed(row, memory, gone)
    (event,) = await embed_memories(cause, catalogue=shelf, vectors=index, model=model)
    assert (event.topic, event.key, event.tenant) == (topics.MEMORIES_EMBEDDED, "t/team.a", "t")
    assert (event.body.container, list(event.body.memory_ids), event.document) == ("team.a", [str(memory.id)], row.id)
    assert (await embed_memories(cause, catalogue=shelf, vectors=index, model=model))[0].id == event.id
    (only,) = rows(index).values()
    assert (only.key, only.kind, only.document) == (row_key(memory.id, 3), Kind.FACT, row.id)
    assert (only.attributes, only.tags) == ({"user_id": "u2", "topic": "food"}, ("diet",))
    assert only.vector is not None


async def test_no_memories_are_announced_too(shelf: Any, index: Any, make: Any) -> None:
    row = make.document()
    shelf.add(row)
    (event,) = await embed_memories(proposed(row), catalogue=shelf, vectors=index, model=None)
    assert list(event.body.memory_ids) == []


async def test_an_edit_reaches_the_row_and_a_deletion_removes_it(shelf: Any, index: Any, model: HashingEmbedder, make: Any) -> None:
    row = make.document()
    memory = make.memory("Anna likes curry", row.id)
    shelf.add(row, memories=[memory])
    await embed_memories(proposed(row, memory), catalogue=shelf, vectors=index, model=model)
    shelf.facts[memory.id] = replace(memory, tags=("new",), is_latest=False)
    assert await follow_change(changed(memory.id), catalogue=shelf, vectors=index, model=model) == []
    (only,) = rows(index).values()
    assert (only.tags, only.is_latest) == (("new",), False)
    shelf.facts.clear()
    for _ in range(2):
        await follow_change(changed(memory.id, deleted=True), catalogue=shelf, vectors=index, model=model)
    assert rows(index) == {}


async def test_a_memory_deleted_while_its_edit_is_followed_leaves_no_row(shelf: Any, index: Any, make: Any) -> None:
    class Deleting(HashingEmbedder):
        async def embed(self, texts: Sequence[str], **options: Any) -> Any:
            shelf.facts.clear()
            return await super().embed(texts, **options)

    row = make.document()
    memory = make.memory("Anna likes curry", row.id)
    shelf.add(row, memories=[memory])
    await follow_change(changed(memory.id), catalogue=shelf, vectors=index, model=Deleting())
    assert rows(index) == {}


async def test_erasure_takes_the_rows_and_the_memories_that_only_it_held(shelf: Any, index: Any, model: HashingEmbedder, make: Any) -> None:
    row, other = make.document(1), make.document(2)
    own, both = make.memory("only here", row.id), make.memory("in both", row.id, other.id)
    shelf.add(row, make.passage(row, 0, "one"), memories=[own, both])
    shelf.add(other, make.passage(other, 0, "two"))
    for each in (row, other):
        await embed(extracted(each), catalogue=shelf, vectors=index, model=model)
    await embed_memories(proposed(row, own, both), catalogue=shelf, vectors=index, model=model)
    shelf.forget(row.id)
    for _ in range(2):
        assert await erase(erased(row), catalogue=shelf, vectors=index, model=model) == []
    found = {each.public_id: each for each in rows(index).values()}
    assert found.keys() == {both.id, make.passage(other, 0, "two").id}
    assert found[both.id].document == other.id, "the row must not carry what an erased document said about itself"


async def test_undo_removes_one_generation_and_of_an_erased_document_all(shelf: Any, index: Any, model: HashingEmbedder, make: Any) -> None:
    old, new = make.document(generation=1), make.document(generation=2)
    for row in (old, new):
        shelf.add(row, make.passage(row, 0, "text"))
        await embed(extracted(row), catalogue=shelf, vectors=index, model=model)
    await undo(extracted(new), catalogue=shelf, vectors=index)
    assert await index.documents("t") == [(old.id, 1)]
    shelf.forget(old.id)
    await undo(extracted(new), catalogue=shelf, vectors=index)
    assert rows(index) == {}


async def test_undo_of_memories_leaves_those_of_other_documents(shelf: Any, index: Any, model: HashingEmbedder, make: Any) -> None:
    row, other = make.document(1), make.document(2)
    own, both, gone = make.memory("own", row.id), make.memory("both", row.id, other.id), make.memory("gone", row.id)
    shelf.add(row, memories=[own, both, gone])
    shelf.add(other)
    event = proposed(row, own, both, gone)
    await embed_memories(event, catalogue=shelf, vectors=index, model=model)
    shelf.facts.pop(gone.id)
    await undo(event, catalogue=shelf, vectors=index)
    assert [each.public_id for each in rows(index).values()] == [both.id]


async def test_undo_of_memories_leaves_what_a_newer_generation_says_again(
    shelf: Any, index: Any, model: HashingEmbedder, make: Any
) -> None:
    old, new = make.document(generation=1), make.document(generation=2)
    said = make.memory("said in both", old.id)
    shelf.add(new, memories=[said])
    await embed_memories(proposed(new, said), catalogue=shelf, vectors=index, model=model)
    await undo(proposed(old, said), catalogue=shelf, vectors=index)
    assert [each.public_id for each in rows(index).values()] == [said.id]


async def test_a_late_erasure_leaves_what_a_newer_generation_says_again(shelf: Any, index: Any, model: HashingEmbedder, make: Any) -> None:
    old, new = make.document(generation=1), make.document(generation=2)
    said = make.memory("said in both", old.id)
    shelf.add(new, make.passage(new, 0, "said in both"), memories=[said])
    await embed(extracted(new), catalogue=shelf, vectors=index, model=model)
    await embed_memories(proposed(new, said), catalogue=shelf, vectors=index, model=model)
    before = rows(index)
    shelf.bury_memories = nothing_buried
    await erase(erased(old), catalogue=shelf, vectors=index, model=model)
    assert rows(index) == before


async def nothing_buried(*_: Any, **__: Any) -> list[Any]:
    """What the catalogue says of memories that a newer generation holds."""
    return []


async def test_events_of_the_wrong_kind_are_poison(shelf: Any, index: Any, make: Any) -> None:
    row = make.document()
    for handler, event in ((embed_memories, extracted(row)), (follow_change, erased(row)), (follow_change, changed("no id"))):
        with pytest.raises(MalformedEvent):
            await handler(event, catalogue=shelf, vectors=index, model=None)
    for handler in (embed, erase):
        with pytest.raises(MalformedEvent):
            await handler(changed(row.id), catalogue=shelf, vectors=index, model=None)

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest
from eunoe.v1 import admin_pb2, container_pb2, ingest_pb2, memory_pb2, search_pb2
from eunoe_contracts import topics
from eunoe_contracts.content import Kind, Unit
from eunoe_contracts.errors import Conflict, DocumentNotFound, InvalidField, MemoryNotFound, PermissionDenied, Unauthenticated
from eunoe_contracts.identity import passage_id, root_id, section_id
from eunoe_contracts.stages import Stage
from eunoe_contracts.tenancy import Principal, Scope
from eunoe_gateway.documents.reading import whole_text
from eunoe_gateway.protobuf import struct

TWO = "Alice likes tea.\n\nBob does not."
DOCUMENT = UUID(int=5)


async def memory_of(world: Any, document: str) -> Any:
    ((memory, _, _),) = await world.catalogue.memories_of("t1", UUID(document), 1)
    return memory


async def test_a_document_tells_where_it_stands(world: Any) -> None:
    accepted = await world.post(TWO, name="tea.txt", custom_id="c", tags=["t"], metadata=struct({"a": {"b": 1}}))
    found = await world.gateway.get_document(world.who, accepted.id)
    assert (found.status, found.searchable, found.size_bytes, len(found.sha256)) == ("queued", False, 31, 64)
    for stage in (Stage.EXTRACT, Stage.EMBED):
        await world.stage(accepted.id, stage)
    assert (await world.gateway.get_document(world.who, accepted.id)).searchable
    await world.stage(accepted.id, Stage.STRUCTURE)
    await world.stage(accepted.id, Stage.PROPOSE, code="model_unavailable")
    await world.finish(accepted.id)
    found = await world.gateway.get_document(world.who, accepted.id)
    assert (found.status, found.searchable, list(found.degraded)) == ("done", True, ["propose"])
    assert [each.stage for each in found.stages][:3] == ["extract", "embed", "propose"]
    assert (found.stages[2].state, found.stages[2].code, found.stages[2].attempts) == ("exhausted", "model_unavailable", 5)
    assert found.counts["passages"] == 2
    assert found.metadata["a"]["b"] == 1


async def test_the_text_comes_back(world: Any) -> None:
    accepted = await world.post(TWO)
    with pytest.raises(Conflict, match="queued"):
        await world.gateway.document_text(world.who, accepted.id)
    await world.stage(accepted.id, Stage.EXTRACT)
    assert await world.gateway.document_text(world.who, accepted.id) == TWO


def test_a_long_text_is_its_sections() -> None:
    root = Unit(root_id(DOCUMENT), DOCUMENT, 1, "c", Kind.ROOT, 0, "summary")
    sections = [Unit(section_id(DOCUMENT, n), DOCUMENT, 1, "c", Kind.SECTION, n, f"section {n}") for n in (1, 0)]
    passages = [Unit(passage_id(DOCUMENT, n), DOCUMENT, 1, "c", Kind.PASSAGE, n, f"passage {n}") for n in (0, 1)]
    assert whole_text([root, *sections, *passages]) == "section 0\n\nsection 1"
    assert whole_text(passages) == "passage 0\n\npassage 1"


async def test_lists_are_newest_first_with_the_true_total(world: Any) -> None:
    ids = [(await world.post(f"text {n}", container="a" if n % 2 else "b", custom_id=str(n))).id for n in range(5)]
    page = await world.gateway.list_documents(world.who, ingest_pb2.ListDocumentsRequest(limit=2, offset=1))
    assert ([each.id for each in page.documents], page.total) == ([ids[3], ids[2]], 5)
    inside = await world.gateway.list_documents(world.who, ingest_pb2.ListDocumentsRequest(container="a"))
    assert inside.total == 2
    named = await world.gateway.list_documents(world.who, ingest_pb2.ListDocumentsRequest(custom_id="3", status="queued"))
    assert [each.id for each in named.documents] == [ids[3]]


@pytest.mark.parametrize(
    ("request_", "named"),
    [
        (ingest_pb2.ListDocumentsRequest(status="lost"), "status"),
        (ingest_pb2.ListDocumentsRequest(container="a..b"), "container"),
        (ingest_pb2.ListDocumentsRequest(limit=-1), "limit"),
        (ingest_pb2.ListDocumentsRequest(offset=-1), "offset"),
    ],
)
async def test_conditions_of_a_list_are_checked(world: Any, request_: Any, named: str) -> None:
    with pytest.raises(InvalidField, match=named):
        await world.gateway.list_documents(world.who, request_)


async def test_watching_ends_with_the_document(world: Any) -> None:
    accepted = await world.post(TWO)
    seen: list[str] = []

    async def watch() -> None:
        seen.extend([each.status async for each in world.gateway.watch_document(world.who, accepted.id, since=0)])

    task = asyncio.create_task(watch())
    await world.process(accepted.id)
    await asyncio.wait_for(task, 5)
    assert seen[-1] == "done"
    with pytest.raises(DocumentNotFound):
        async for _ in world.gateway.watch_document(world.who, str(UUID(int=1)), since=0):
            pass


async def test_other_tenants_find_nothing(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id)
    memory = str((await memory_of(world, accepted.id)).id)
    other = Principal("t2", frozenset(Scope))
    with pytest.raises(DocumentNotFound):
        await world.gateway.get_document(other, accepted.id)
    for call in (world.gateway.get_memory, world.gateway.delete_memory):
        with pytest.raises(MemoryNotFound):
            await call(other, memory)
    assert (await world.gateway.list_containers(other, container_pb2.ContainerServiceListRequest())).total == 0
    assert (await world.gateway.list_documents(other, ingest_pb2.ListDocumentsRequest())).total == 0


async def test_units_and_memories_are_read_the_same_way(world: Any) -> None:
    accepted = await world.post(TWO, name="tea.txt", tags=["t"])
    await world.process(accepted.id)
    unit = await world.gateway.get_memory(world.who, str(passage_id(UUID(accepted.id), 0)))
    assert (unit.kind, unit.content, unit.source.name, list(unit.tags)) == ("passage", "Alice likes tea.", "tea.txt", ["t"])
    memory = await world.gateway.get_memory(world.who, str((await memory_of(world, accepted.id)).id))
    assert (memory.kind, memory.content, memory.document_id, memory.is_latest) == ("fact", "Alice likes tea.", accepted.id, True)
    assert len(memory.content_hash) == 64
    with pytest.raises(MemoryNotFound):
        await world.gateway.get_memory(world.who, str(UUID(int=9)))


async def test_lists_of_memories_and_of_units(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id)
    found = await world.gateway.list_memories(world.who, memory_pb2.ListMemoriesRequest(container="default", kinds=["fact", "task"]))
    assert ([each.content for each in found.memories], found.total) == (["Alice likes tea."], 1)
    request = memory_pb2.ListMemoriesRequest(document_id=accepted.id, kinds=["passage"], limit=1, offset=1)
    units = await world.gateway.list_memories(world.who, request)
    assert ([each.content for each in units.memories], units.total) == (["Bob does not."], 2)
    for bad in ({"kinds": ["passage"]}, {"kinds": ["poem"]}, {"kinds": ["passage", "fact"], "document_id": accepted.id}):
        with pytest.raises(InvalidField, match="kinds"):
            await world.gateway.list_memories(world.who, memory_pb2.ListMemoriesRequest(**bad))


async def test_a_memory_can_be_edited_a_passage_not(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id)
    identifier = str((await memory_of(world, accepted.id)).id)
    request = memory_pb2.UpdateMemoryRequest(id=identifier, tags=["x"], confidence=0.2, is_latest=False, metadata=struct({"n": 1}))
    changed = await world.gateway.update_memory(world.who, request)
    assert (list(changed.tags), changed.confidence, changed.is_latest, changed.metadata["n"]) == (["x"], 0.2, False, 1)
    more = await world.gateway.update_memory(world.who, memory_pb2.UpdateMemoryRequest(id=identifier, tags=["y"]))
    assert (list(more.tags), more.confidence) == (["x", "y"], 0.2)
    none = await world.gateway.update_memory(world.who, memory_pb2.UpdateMemoryRequest(id=identifier, replace_tags=True))
    assert list(none.tags) == []
    assert len(world.events(topics.MEMORY_CHANGED)) == 3
    with pytest.raises(InvalidField, match="confidence"):
        await world.gateway.update_memory(world.who, memory_pb2.UpdateMemoryRequest(id=identifier, confidence=2))
    passage = str(passage_id(UUID(accepted.id), 0))
    with pytest.raises(Conflict, match="passage"):
        await world.gateway.update_memory(world.who, memory_pb2.UpdateMemoryRequest(id=passage, tags=["x"]))
    with pytest.raises(Conflict, match="passage"):
        await world.gateway.delete_memory(world.who, passage)
    with pytest.raises(MemoryNotFound):
        await world.gateway.update_memory(world.who, memory_pb2.UpdateMemoryRequest(id=str(UUID(int=1)), confidence=0.5))


async def test_a_deleted_memory_is_gone_from_every_store(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id)
    before = (await world.vectors.count("t1"), await world.graph.count("t1"))
    identifier = str((await memory_of(world, accepted.id)).id)
    assert (await world.gateway.delete_memory(world.who, identifier)).deleted
    assert (await world.vectors.count("t1"), await world.graph.count("t1")) == (before[0] - 1, before[1] - 1)
    (event,) = world.events(topics.MEMORY_CHANGED)
    assert event.body.deleted
    with pytest.raises(MemoryNotFound):
        await world.gateway.delete_memory(world.who, identifier)


async def test_neighbours(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id)
    passage = str(passage_id(UUID(accepted.id), 0))
    found = await world.gateway.related(world.who, memory_pb2.RelatedRequest(id=passage))
    assert found.memory_id == passage
    assert {(each.relationship_type, each.memory.kind) for each in found.related} == {("has_passage", "document"), ("derived_from", "fact")}
    named = await world.gateway.related(world.who, memory_pb2.RelatedRequest(id=passage, relationship_type="derived_from"))
    assert [(each.memory.content, each.confidence) for each in named.related] == [("Alice likes tea.", 0.9)]
    back = await world.gateway.related(world.who, memory_pb2.RelatedRequest(id=named.related[0].memory.id))
    assert [each.memory.id for each in back.related] == [passage]
    with pytest.raises(InvalidField, match="relationship_type"):
        await world.gateway.related(world.who, memory_pb2.RelatedRequest(id=passage, relationship_type="loves"))
    with pytest.raises(MemoryNotFound):
        await world.gateway.related(world.who, memory_pb2.RelatedRequest(id=str(UUID(int=1))))


async def test_a_profile_has_facts_and_the_last_seven_days(world: Any) -> None:
    old = await world.post("Alice likes tea.")
    await world.process(old.id)
    world.clock.advance(8 * 24 * 3600)
    new = await world.post("Alice likes coffee.")
    await world.process(new.id)
    found = await world.gateway.profile(world.who, memory_pb2.ProfileRequest(container="default"))
    assert set(found.static_facts) == {"Alice likes tea.", "Alice likes coffee."}
    assert list(found.recent_context) == ["Alice likes coffee."]
    none = await world.gateway.profile(world.who, memory_pb2.ProfileRequest(container="default", fact_limit=0, recent_limit=0))
    assert (list(none.static_facts), list(none.recent_context)) == ([], [])
    with pytest.raises(InvalidField):
        await world.gateway.profile(world.who, memory_pb2.ProfileRequest(container="default", fact_limit=-1))


async def test_containers_and_counts(world: Any) -> None:
    for container in ("a", "a.b", "c"):
        await world.process((await world.post(TWO, container=container)).id)
    found = await world.gateway.list_containers(world.who, container_pb2.ContainerServiceListRequest(prefix="a"))
    assert ([each.name for each in found.containers], found.total) == (["a", "a.b"], 2)
    assert (found.containers[1].parent, found.containers[1].document_count) == ("a", 1)
    stats: Any = (await world.gateway.stats(world.who)).stats
    assert stats["documents"]["total"] == 3
    assert stats["documents"]["by_status"]["done"] == 3
    assert stats["memories"]["total"] >= 3
    assert stats["containers"]["total"] == 3
    edges = world.graph.contents("t1")[1]
    assert stats["relationships"]["total"] == len(edges) > 0
    assert stats["relationships"]["by_type"]["has_passage"] == sum(each.kind == "has_passage" for each in edges)
    assert stats["index"]["rows"] == await world.vectors.count("t1")


async def test_searching_is_passed_on_with_the_tenant(world: Any) -> None:
    assert (await world.gateway.search(world.who, search_pb2.SearchRequest(query="q"))).query == "t1:q"
    await world.gateway.explain(world.who, search_pb2.ExplainRequest())
    for call in (world.gateway.search, world.gateway.explain):
        with pytest.raises(PermissionDenied):
            await call(Principal("t1", frozenset({Scope.INGEST})), search_pb2.SearchRequest(query="q"))


async def test_readiness_and_tokens_are_there(world: Any) -> None:
    assert (await world.gateway.readiness()).ready
    made = await world.gateway.create_token(world.who, admin_pb2.CreateTokenRequest(name="n", scopes=["search"]))
    who = await world.gateway.authenticate(made.secret, loopback=False)
    assert who.tenant == "t1"
    assert len((await world.gateway.tokens(world.who)).tokens) == 1
    await world.gateway.revoke_token(world.who, made.token.id)
    with pytest.raises(Unauthenticated):
        await world.gateway.authenticate(made.secret, loopback=True)

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest
from eunoe.v1 import container_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import (
    ConfirmationRequired,
    Conflict,
    ContainerNotFound,
    DocumentNotFound,
    InvalidField,
    PermissionDenied,
)
from eunoe_contracts.stages import Stage
from eunoe_contracts.tenancy import Principal, Scope
from eunoe_gateway.wiring import ERASE_GROUP

NOTHING = {"vectors": 0, "graph": 0, "units": 0, "blobs": 0}
TWO = "Alice likes tea.\n\nBob does not."


async def handle_erased(world: Any) -> None:
    subscription = next(each for each in world.service.subscriptions if each.group == ERASE_GROUP)
    for event in world.events(topics.DOCUMENT_ERASED):
        assert await subscription.handler(event) == []


async def pending(world: Any) -> int:
    return len(await world.catalogue.pending_erasures(requested_before=world.clock.now(), limit=100))


async def test_an_erased_document_is_gone_at_once_and_soon_from_every_store(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id)
    answer = await world.gateway.delete_document(world.who, accepted.id)
    assert (answer.id, answer.deleted) == (accepted.id, True)
    for call in (world.gateway.get_document, world.gateway.document_text, world.gateway.delete_document):
        with pytest.raises(DocumentNotFound):
            await call(world.who, accepted.id)
    (event,) = world.events(topics.DOCUMENT_ERASED)
    assert (str(event.document), event.generation) == (accepted.id, 1)
    await handle_erased(world)
    await handle_erased(world)
    world.clock.advance(64)
    await world.sweeper.erasures()
    assert await pending(world) == 1
    world.clock.advance(2)
    await world.sweeper.erasures()
    assert await world.remains(accepted.id) == NOTHING
    assert await world.vectors.count("t1") == 0
    assert await world.graph.count("t1") == 0
    await world.sweeper.erasures()
    assert await pending(world) == 0


async def test_the_proof_waits_for_late_writers_to_be_cleaned_up(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.stage(accepted.id, Stage.EXTRACT)
    row = await world.row(accepted.id)
    units = await world.catalogue.units("t1", row.id, 1)
    await world.gateway.delete_document(world.who, accepted.id)
    await handle_erased(world)
    await world.vectors.upsert("t1", [world.index_row(each) for each in units])  # a writer that was not undone
    world.clock.advance(70)
    await world.sweeper.erasures()
    assert await pending(world) == 1
    assert await world.remains(accepted.id) == NOTHING
    await world.sweeper.erasures()
    assert await pending(world) == 0


async def test_the_proof_waits_for_the_files_to_be_purged_and_purges_rest(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    purges: list[bool] = []

    async def slow_and_first_in_the_way() -> bool:
        world.clock.advance(3)
        purges.append(bool(purges))
        return purges[-1]

    monkeypatch.setattr(world.vectors, "purge", slow_and_first_in_the_way)
    for text, after in (("One.", 0), ("Two.", 0), ("Three.", 25)):
        world.clock.advance(after)
        accepted = await world.post(text)
        await world.process(accepted.id)
        await world.gateway.delete_document(world.who, accepted.id)
    await handle_erased(world)
    world.clock.advance(45)  # One and Two are 70 seconds old, Three is 45
    for _ in range(2):  # the first pass finds something left
        await world.sweeper.erasures()
    assert (purges, await pending(world)) == ([False], 3), "not purged, not proved"
    await world.sweeper.erasures()
    assert (purges, await pending(world)) == ([False, True], 1), "one purge is enough for both"
    world.clock.advance(25)
    for _ in range(2):
        await world.sweeper.erasures()
    assert (len(purges), await pending(world)) == (2, 1), "it rests ten times as long as it took"
    world.clock.advance(10)
    for _ in range(2):
        await world.sweeper.erasures()
    assert (purges, await pending(world)) == ([False, True, True], 0)


async def test_a_lost_event_does_not_stop_the_erasure(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id)
    await world.log.close()
    await world.gateway.delete_document(world.who, accepted.id)
    world.clock.advance(70)
    for _ in range(2):
        await world.sweeper.erasures()
    assert await world.remains(accepted.id) == NOTHING
    assert await world.vectors.count("t1") == 0
    assert await pending(world) == 0


async def test_the_same_bytes_after_an_erasure_are_a_new_generation_that_stays(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id)
    await world.gateway.delete_document(world.who, accepted.id)
    again = await world.post(TWO)
    assert (again.id, again.generation, again.deduplicated) == (accepted.id, 2, False)
    with pytest.raises(Conflict):
        await world.gateway.document_text(world.who, again.id)  # not the erased generation's text
    await world.process(again.id)
    await handle_erased(world)
    world.clock.advance(70)
    for _ in range(2):
        await world.sweeper.erasures()
    assert await pending(world) == 0
    assert (await world.row(again.id)).status == "done"
    assert await world.remains(again.id) == {"vectors": 3, "graph": 4, "units": 3, "blobs": 1}


async def test_erasing_and_adding_at_the_same_moment(world: Any) -> None:
    accepted = await world.post(TWO)
    _, again = await asyncio.gather(world.gateway.delete_document(world.who, accepted.id), world.post(TWO))
    row = await world.row(accepted.id)
    if again.deduplicated:  # the post came first
        assert row is None
        again = await world.post(TWO)
        row = await world.row(accepted.id)
    assert row.generation == again.generation == 2
    assert await world.blobs.read("t1", world.blob_key(row)) == TWO.encode()


async def test_two_documents_with_equal_bytes_are_erased_independently(world: Any) -> None:
    first, second = await world.post(TWO, name="a.txt"), await world.post(TWO, name="b.txt")
    for each in (first, second):
        await world.process(each.id)
    before = await world.remains(second.id)
    await world.gateway.delete_document(world.who, first.id)
    await handle_erased(world)
    world.clock.advance(70)
    for _ in range(2):
        await world.sweeper.erasures()
    assert await world.remains(first.id) == NOTHING
    row = await world.row(second.id)
    assert row.status == "done"
    assert await world.blobs.read("t1", world.blob_key(row)) == TWO.encode()
    assert (await world.remains(second.id))["units"] == before["units"]
    ((memory, _, _),) = await world.catalogue.memories_of("t1", row.id, 1)
    assert memory.sources == (row.id,)


async def test_a_cancelled_document_ends_and_leaves_the_projections(world: Any) -> None:
    accepted = await world.post(TWO)
    for stage in (Stage.EXTRACT, Stage.EMBED, Stage.STRUCTURE):
        await world.stage(accepted.id, stage)
    cancelled = await world.gateway.cancel_document(world.who, accepted.id)
    assert cancelled.status == "cancelled"
    assert (await world.gateway.cancel_document(world.who, accepted.id)).status == "cancelled"
    remains = await world.remains(accepted.id)
    assert (remains["vectors"], remains["graph"]) == (0, 0)
    assert not await world.catalogue.may_write("t1", UUID(accepted.id), 1)


async def test_an_ended_document_cannot_be_cancelled(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id)
    with pytest.raises(Conflict, match="done"):
        await world.gateway.cancel_document(world.who, accepted.id)
    with pytest.raises(DocumentNotFound):
        await world.gateway.cancel_document(world.who, str(UUID(int=1)))


async def test_a_container_is_erased_exactly(world: Any) -> None:
    inside = [await world.post(text, container="a") for text in ("x", "y")]
    below = await world.post("x", container="a.b")
    request = container_pb2.ContainerServiceDeleteRequest(name="a")
    with pytest.raises(ConfirmationRequired):
        await world.gateway.delete_container(world.who, request)
    request.confirm = True
    answer = await world.gateway.delete_container(world.who, request)
    assert (answer.container, answer.deleted_count) == ("a", 2)
    assert [await world.row(each.id) for each in inside] == [None, None]
    assert await world.row(below.id) is not None
    assert len(world.events(topics.DOCUMENT_ERASED)) == 2
    with pytest.raises(ContainerNotFound):
        await world.gateway.delete_container(world.who, request)


async def test_who_may_erase_what(world: Any) -> None:
    accepted = await world.post(TWO)
    with pytest.raises(PermissionDenied):
        await world.gateway.delete_document(Principal("t1", frozenset({Scope.SEARCH})), accepted.id)
    with pytest.raises(DocumentNotFound):
        await world.gateway.delete_document(Principal("t2", frozenset(Scope)), accepted.id)
    with pytest.raises(InvalidField, match="UUID"):
        await world.gateway.delete_document(world.who, "12")

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.events import Event, encode
from eunoe_contracts.identity import passage_id, row_key
from eunoe_contracts.stages import Stage
from eunoe_gateway.documents.ends import MOST_WRITES
from eunoe_stores.blobs.port import BlobKey
from eunoe_telemetry.testing import eventually

TWO = "Alice likes tea.\n\nBob does not."
GROUPS = {
    topics.DOCUMENT_ACCEPTED: ("extractor",),
    topics.DOCUMENT_EXTRACTED: ("embedder", "llm-extractor", "graph"),
    topics.MEMORIES_PROPOSED: ("embedder",),
    topics.MEMORIES_EMBEDDED: ("graph",),
    topics.STAGE_FINISHED: ("finish",),
}


async def consume(world: Any, topic: str) -> None:
    """All groups of the topic read everything and commit it, as if the records were lost on them."""
    for group in GROUPS[topic]:
        consumer = await world.log.consumer(group, [topic])
        while found := await consumer.fetch(100, 0):
            await consumer.commit({each.source: each.offset + 1 for each in found})
        await consumer.close()


async def sweep_later(world: Any) -> None:
    world.clock.advance(16)
    await world.sweeper.sweep()


async def test_an_unpublished_document_is_published_once(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def down(*_: Any) -> None:
        raise StoreUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(world.log, "publish", down)
        accepted = await world.post(TWO)
        await sweep_later(world)  # the log is still down; the sweeper lives on
    assert world.events(topics.DOCUMENT_ACCEPTED) == []
    for _ in range(3):
        await sweep_later(world)
    (event,) = world.events(topics.DOCUMENT_ACCEPTED)
    assert str(event.document) == accepted.id
    assert (await world.row(accepted.id)).published


async def test_a_fresh_document_is_left_alone(world: Any) -> None:
    await world.post(TWO)
    await world.sweeper.sweep()
    assert len(world.events(topics.DOCUMENT_ACCEPTED)) == 1


async def test_a_document_whose_record_waits_is_left_alone(world: Any) -> None:
    await world.post(TWO)
    for _ in range(3):
        await sweep_later(world)
    assert len(world.events(topics.DOCUMENT_ACCEPTED)) == 1


@pytest.mark.parametrize(
    ("done", "topic"),
    [
        ((), topics.DOCUMENT_ACCEPTED),
        ((Stage.EXTRACT,), topics.DOCUMENT_EXTRACTED),
        ((Stage.EXTRACT, Stage.EMBED, Stage.STRUCTURE), topics.DOCUMENT_EXTRACTED),
        ((Stage.EXTRACT, Stage.EMBED, Stage.STRUCTURE, Stage.PROPOSE), topics.MEMORIES_PROPOSED),
        ((Stage.EXTRACT, Stage.EMBED, Stage.STRUCTURE, Stage.PROPOSE, Stage.EMBED_MEMORIES), topics.MEMORIES_EMBEDDED),
    ],
)
async def test_a_lost_record_is_published_again(world: Any, done: tuple[Stage, ...], topic: str) -> None:
    accepted = await world.post(TWO)
    await consume(world, topics.DOCUMENT_ACCEPTED)
    for stage in done:
        await world.stage(accepted.id, stage)
    before = len(world.events(topic))
    await sweep_later(world)
    await sweep_later(world)  # now a record waits, so nothing is added
    events = world.events(topic)
    assert len(events) == before + 1
    assert str(events[-1].document) == accepted.id
    assert len({each.id for each in events}) == len(events)
    if topic in {topics.MEMORIES_PROPOSED, topics.MEMORIES_EMBEDDED}:
        assert len(events[-1].body.memory_ids) == 1
        assert events[-1].body.container == "default"
    if topic == topics.DOCUMENT_EXTRACTED:
        assert events[-1].body.passages == 2
    assert world.metrics.registry.get_sample_value("eunoe_sweeper_republished_total", {"topic": topic}) == 1


async def test_a_long_queue_is_not_asked_in_every_pass(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        await world.post(f"text {number}")
    asked: list[str] = []
    has_pending = world.log.has_pending

    async def counted(topic: str, group: str, key: str) -> bool:
        asked.append(key)
        return await has_pending(topic, group, key)

    monkeypatch.setattr(world.log, "has_pending", counted)
    world.clock.advance(16)
    for _ in range(5):
        await world.sweeper.sweep()
        world.clock.advance(5)
    assert len(asked) == 5
    world.clock.advance(10)
    await world.sweeper.sweep()
    assert len(asked) == 10


async def test_a_lost_wake_up_does_not_keep_a_document_open(world: Any) -> None:
    accepted = await world.post(TWO)
    for stage in Stage:
        await world.stage(accepted.id, stage)
    await sweep_later(world)
    assert (await world.row(accepted.id)).status == "done"
    await sweep_later(world)
    assert world.metrics.registry.get_sample_value("eunoe_open_documents") == 0


async def test_the_sweeper_erases_older_versions_too(world: Any) -> None:
    old = await world.post("one", custom_id="c")
    await world.process(old.id)
    new = await world.post("two", custom_id="c")
    for stage in Stage:
        await world.stage(new.id, stage)
    await sweep_later(world)
    assert [str(each.document) for each in world.events(topics.DOCUMENT_ERASED)] == [old.id]


async def test_a_document_that_never_reads_back_fails_after_the_limit(world: Any) -> None:
    accepted = await world.post(TWO)
    for stage in Stage:
        await world.stage(accepted.id, stage)
    for _ in range(MOST_WRITES - 1):
        await world.graph.delete_nodes("t1", [row_key(UUID(accepted.id), 1)])
        await world.finish(accepted.id)
        for stage in (Stage.EMBED, Stage.STRUCTURE, Stage.EMBED_MEMORIES, Stage.RELATE):
            await world.stage(accepted.id, stage)
    await world.graph.delete_nodes("t1", [row_key(UUID(accepted.id), 1)])
    await sweep_later(world)
    assert not (await world.row(accepted.id)).status.is_end
    world.clock.advance(600)
    await sweep_later(world)
    row = await world.row(accepted.id)
    assert (row.status, row.error_code) == ("failed", "read_back_failed")
    assert (await world.remains(accepted.id))["vectors"] == 0
    assert (await world.post(TWO)).generation == 2


async def test_one_sick_document_does_not_hold_up_the_others(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = await world.post("one"), await world.post("two")
    for each in (first, second):
        for stage in Stage:
            await world.stage(each.id, stage)
    missing = world.vectors.missing

    async def sick(tenant: str, keys: Any, *, with_vectors: bool) -> Any:
        if row_key(passage_id(UUID(first.id), 0), 1) in keys:
            raise StoreUnavailable
        return await missing(tenant, keys, with_vectors=with_vectors)

    monkeypatch.setattr(world.vectors, "missing", sick)
    await sweep_later(world)
    assert (await world.row(second.id)).status == "done"
    assert not (await world.row(first.id)).status.is_end


async def test_stale_uploads_are_dropped(world: Any) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"x"

    await world.blobs.stage("t1", "left-behind", chunks(), limit=10)
    await world.sweeper.uploads()
    assert len(world.blobs._staging) == 1
    world.clock.advance(timedelta(days=1, seconds=1).total_seconds())
    await world.sweeper.uploads()
    assert world.blobs._staging == {}


async def test_blobs_that_a_crash_left_without_a_document_are_removed(world: Any) -> None:
    kept = await world.post(TWO)
    await world.process(kept.id)
    never_accepted = UUID(int=77)
    await world.blobs.put("t1", BlobKey(never_accepted, 1, "source-0000000000000000"), b"x")
    await world.blobs.put("t2", BlobKey(never_accepted, 2, "source-0000000000000000"), b"x")
    await world.blobs.put("t1", BlobKey(UUID(kept.id), 2, "source-0000000000000000"), b"x")  # its next generation was never accepted
    async with world.gateway.locks.hold(never_accepted):  # an acceptance is half way
        look = asyncio.create_task(world.sweeper.orphans.remove())
        await asyncio.wait({look}, timeout=0.05)
        assert not look.done()
    assert await look == 3
    assert await world.blobs.documents("t1") == [(UUID(kept.id), 1)]
    assert await world.sweeper.orphans.remove() == 0


async def test_the_first_pass_is_at_start_and_then_at_intervals(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def down(*_: Any) -> None:
        raise StoreUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(world.log, "publish", down)
        await world.post(TWO)
    world.clock.advance(16)
    task = asyncio.create_task(world.service.background[0].run())
    await eventually(lambda: len(world.events(topics.DOCUMENT_ACCEPTED)) == 1)
    with monkeypatch.context() as patch:
        patch.setattr(world.log, "publish", down)
        await world.post("another")
    await eventually(lambda: len(world.events(topics.DOCUMENT_ACCEPTED)) == 2, meanwhile=lambda: world.clock.advance(5))
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_defect_in_one_part_or_document_does_not_stop_the_others(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = [await world.post(text) for text in ("One.", "Two.", "Three.")]
    await consume(world, topics.DOCUMENT_ACCEPTED)
    await world.process(third.id)
    await world.gateway.delete_document(world.who, third.id)
    world.clock.advance(70)
    document, delete = world.catalogue.document, world.vectors.delete_document

    async def defective(tenant: str, identifier: UUID) -> Any:
        if identifier == UUID(first.id):
            raise ValueError("a defect that this document meets")
        return await document(tenant, identifier)

    async def once(*args: Any, **named: Any) -> int:
        monkeypatch.setattr(world.vectors, "delete_document", delete)
        raise ZeroDivisionError

    async def stale(**_: Any) -> None:
        raise KeyError

    monkeypatch.setattr(world.catalogue, "document", defective)
    monkeypatch.setattr(world.vectors, "delete_document", once)
    monkeypatch.setattr(world.blobs, "discard_stale", stale)
    task = asyncio.create_task(world.sweeper.run())

    async def has_gone_on() -> bool:
        return len(world.events(topics.DOCUMENT_ACCEPTED)) == 4 and not await world.catalogue.pending_erasures(
            requested_before=world.clock.now(), limit=9
        )

    await eventually(has_gone_on, meanwhile=lambda: world.clock.advance(1))
    assert [str(each.document) for each in world.events(topics.DOCUMENT_ACCEPTED)].count(second.id) == 2
    assert not task.done()
    task.cancel()


async def test_a_busy_container_does_not_keep_a_document_waiting_for_ever(world: Any) -> None:
    accepted = await world.post(TWO, container="busy")
    for stage in (Stage.EXTRACT, Stage.EMBED, Stage.STRUCTURE, Stage.PROPOSE):
        await world.stage(accepted.id, stage)
    await consume(world, topics.MEMORIES_PROPOSED)
    # Its own event is lost; the container never has nothing pending, as another document's event stands there.
    other = Event(uuid4(), topics.MEMORIES_PROPOSED, topics.container_key("t1", "busy"), "t1", events_pb2.MemoriesProposed(tenant="t1"))
    await world.log.publish([encode(other)])
    before = len(world.events(topics.MEMORIES_PROPOSED))
    for _ in range(12):
        await sweep_later(world)
    again = world.events(topics.MEMORIES_PROPOSED)[before:]
    assert [str(each.document) for each in again] == [accepted.id], "once, and not again while it is pending itself"

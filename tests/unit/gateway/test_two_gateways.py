"""Two gateways on one catalogue, one log and one blob store, as two processes have it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from eunoe.v1 import ingest_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.events import decode
from eunoe_contracts.stages import DocumentStatus, Stage
from eunoe_gateway.config import AuthSettings
from eunoe_gateway.wiring import build, build_application
from eunoe_stores.blobs.port import BlobKey

TWO = "Alice likes tea.\n\nBob does not."


class Second:
    """Another gateway on a world's stores."""

    def __init__(self, world: Any, **ports: Any) -> None:
        self.ports = replace(world.ports, alone=False, **ports)
        self.gateway = build_application(world.settings, AuthSettings(api_token=""), self.ports, probes={})
        self.service = build(world.settings, self.ports, self.gateway)
        self.who = world.who

    @property
    def sweeper(self) -> Any:
        return self.service.background[0].run.__self__  # type: ignore[attr-defined]  # a bound method

    async def post(self, text: str) -> ingest_pb2.Acceptance:
        return (await self.gateway.ingest(self.who, ingest_pb2.IngestRequest(text=text))).acceptance


@pytest.fixture
def pair(world: Any) -> tuple[Second, Second]:
    return Second(world), Second(world)


async def sweep_both(world: Any, pair: tuple[Second, Second], seconds: float = 16.0) -> list[bool]:
    world.clock.advance(seconds)
    return list(await asyncio.gather(*(each.sweeper.sweep() for each in pair)))


async def test_one_sweeps_and_the_other_takes_over(world: Any, pair: tuple[Second, Second]) -> None:
    first = await sweep_both(world, pair)
    assert sorted(first) == [False, True]
    leader, other = (pair[first.index(True)], pair[first.index(False)])
    assert await leader.sweeper.sweep()
    assert not await other.sweeper.sweep()
    world.clock.advance(4 * world.settings.sweep_interval_s + 1)  # the leader is gone
    assert await other.sweeper.sweep()
    assert not await leader.sweeper.sweep()
    assert world.metrics.registry.get_sample_value("eunoe_open_documents") == 0


async def test_an_unpublished_document_is_published_once(world: Any, pair: tuple[Second, Second], monkeypatch: pytest.MonkeyPatch) -> None:
    async def down(*_: Any) -> None:
        raise StoreUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(world.log, "publish", down)
        accepted = await pair[0].post(TWO)
    for _ in range(3):
        await sweep_both(world, pair)
    (event,) = [decode(each) for each in world.log.records(topics.DOCUMENT_ACCEPTED)]
    assert str(event.document) == accepted.id


async def test_two_that_sweep_at_once_do_no_harm(world: Any, pair: tuple[Second, Second]) -> None:
    """As when a lease ran out while its holder was in the middle of a pass: ends are counted once, erasures proved once."""
    done, erased = await pair[0].post(TWO), await pair[1].post("Carol likes coffee.")
    for stage in Stage:
        await world.stage(done.id, stage)
    await world.gateway.delete_document(world.who, erased.id)
    world.clock.advance(100)
    for _ in range(2):
        parts = [part for each in pair for part in (each.sweeper.documents(), each.sweeper.erasures())]
        await asyncio.gather(*parts)
        for topic, group in ((topics.STAGE_FINISHED, "finish"),):
            consumer = await world.log.consumer(group, [topic])
            while found := await consumer.fetch(100, 0):
                await consumer.commit({each.source: each.offset + 1 for each in found})
            await consumer.close()
        world.clock.advance(100)
    assert (await world.row(done.id)).status is DocumentStatus.DONE
    assert world.metrics.registry.get_sample_value("eunoe_documents_ended_total", {"status": "done"}) == 1
    assert await world.catalogue.pending_erasures(requested_before=world.clock.now(), limit=9) == []
    assert await world.remains(erased.id) == {"vectors": 0, "graph": 0, "units": 0, "blobs": 0}


async def test_equal_posts_at_both_are_one_document_with_its_blob(world: Any, pair: tuple[Second, Second]) -> None:
    for number in range(20):
        text = f"The same text, number {number}."
        answers = await asyncio.gather(*(each.post(text) for each in pair))
        assert len({each.id for each in answers}) == 1
        row = await world.row(answers[0].id)
        assert await world.blobs.read("t1", world.blob_key(row)) == text.encode()


async def test_a_refused_post_leaves_the_blob_of_the_same_post_at_the_other(
    world: Any, pair: tuple[Second, Second], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One has placed the blob and has no row yet, when the other, with the same content, is refused and tidies up."""
    accept, placed, refused = world.catalogue.accept, asyncio.Event(), asyncio.Event()

    async def racing(*arguments: Any, **named: Any) -> Any:
        if placed.is_set():
            raise StoreUnavailable
        placed.set()
        await refused.wait()
        return await accept(*arguments, **named)

    monkeypatch.setattr(world.catalogue, "accept", racing)
    slow = asyncio.create_task(pair[0].post("x"))
    await placed.wait()
    with pytest.raises(StoreUnavailable):
        await pair[1].post("x")
    refused.set()
    row = await world.row((await slow).id)
    assert await world.blobs.read("t1", world.blob_key(row)) == b"x"


async def orphaned(world: Any, name: str = "lost") -> BlobKey:
    """A blob that a crash left without a row."""
    key = BlobKey(UUID(int=len(name)), 1, "source-0")
    await world.blobs.put("t1", key, name.encode())
    return key


async def test_an_orphan_goes_at_the_second_look(world: Any, pair: tuple[Second, Second]) -> None:
    await orphaned(world)
    kept = await pair[0].post(TWO)
    assert await pair[0].sweeper.orphans.remove() == 0
    assert len(await world.blobs.documents("t1")) == 2
    assert await pair[0].sweeper.orphans.remove() == 1
    assert await world.blobs.documents("t1") == [(UUID(kept.id), 1)]
    assert await pair[0].sweeper.orphans.remove() == 0


async def test_an_acceptance_that_an_orphan_search_meets_half_way_loses_nothing(
    world: Any, pair: tuple[Second, Second], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its blob lies there, its row does not: to the other gateway it is an orphan, at two looks in a row."""
    accept, removed = world.catalogue.accept, 0

    async def meeting(*arguments: Any, **named: Any) -> Any:
        nonlocal removed
        if not removed:
            assert await pair[1].sweeper.orphans.remove() == 0
            removed = await pair[1].sweeper.orphans.remove()
        return await accept(*arguments, **named)

    monkeypatch.setattr(world.catalogue, "accept", meeting)
    with pytest.raises(StoreUnavailable, match="send it again"):
        await pair[0].post(TWO)
    assert removed == 1
    again = await pair[0].post(TWO)  # the caller was told, so it does
    row = await world.row(again.id)
    assert row.generation == 2
    assert await world.blobs.read("t1", world.blob_key(row)) == TWO.encode()


async def test_blobs_above_the_generation_of_a_row_stay_until_it_is_erased(world: Any, pair: tuple[Second, Second]) -> None:
    accepted = await pair[0].post(TWO)
    document = UUID(accepted.id)
    await world.blobs.put("t1", BlobKey(document, 2, "source-0"), b"half accepted")
    for _ in range(2):
        assert await pair[0].sweeper.orphans.remove() == 0
    await pair[0].gateway.delete_document(world.who, accepted.id)
    for _ in range(2):
        await pair[0].sweeper.orphans.remove()
    assert await world.blobs.documents("t1") == []


async def test_a_catalogue_that_is_away_gives_nobody_the_turn(
    world: Any, pair: tuple[Second, Second], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: Any, **__: Mapping[str, Any]) -> bool:
        raise StoreUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(world.catalogue, "take_lease", away)
        assert await sweep_both(world, pair) == [False, False]
    assert sum(await sweep_both(world, pair)) == 1

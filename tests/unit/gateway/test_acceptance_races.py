"""Accepting while the state moves, and callers that go away half way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from eunoe.v1 import ingest_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import StaleGeneration, StoreUnavailable


async def test_acceptance_plans_again_when_the_state_moved(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    accept, stale = world.catalogue.accept, iter([True, True])

    async def moving(*arguments: Any, **named: Any) -> Any:
        if next(stale, False):
            raise StaleGeneration
        return await accept(*arguments, **named)

    monkeypatch.setattr(world.catalogue, "accept", moving)
    assert (await world.post("x")).status == "queued"
    stale = iter([True] * 100)
    with pytest.raises(StoreUnavailable):
        await world.post("y")
    assert len(world.blobs._blobs) == 1


async def test_acceptance_carries_the_blob_to_a_newer_generation(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The upload was moved to generation 1 when another process accepted and erased that."""
    accept, moved = world.catalogue.accept, False

    async def moving(tenant: str, new: Any, *, plan: Any, **named: Any) -> Any:
        nonlocal moved
        if not moved:
            moved = True
            await accept(tenant, new, plan=plan, **named)
            await world.catalogue.erase(tenant, new.id, now=world.clock.now())
            raise StaleGeneration
        return await accept(tenant, new, plan=plan, **named)

    monkeypatch.setattr(world.catalogue, "accept", moving)
    answer = await world.post("x")
    assert answer.generation == 2
    row = await world.row(answer.id)
    assert await world.blobs.read("t1", world.blob_key(row)) == b"x"
    assert await world.blobs.documents("t1") == [(row.id, 2)]


async def test_a_caller_that_goes_away_leaves_a_whole_document_or_none(world: Any) -> None:
    call = asyncio.create_task(world.post("x"))
    for _ in range(3):
        await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    again = await world.post("x")
    row = await world.row(again.id)
    assert await world.blobs.read("t1", world.blob_key(row)) == b"x"
    await world.gateway.drain()
    assert world.blobs._staging == {}
    assert len(world.events(topics.DOCUMENT_ACCEPTED)) == 1


async def test_a_broken_upload_leaves_nothing(world: Any) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"part"
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await world.gateway.upload(world.who, ingest_pb2.UploadStart, chunks())
    assert await world.nothing_left()

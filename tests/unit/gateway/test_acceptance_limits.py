"""A full queue and a full disk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from eunoe.v1 import ingest_pb2
from eunoe_contracts.errors import QueueFull, StorageFull


async def test_a_full_queue_refuses_before_the_body_is_read(world: Any) -> None:
    first = await world.post("the first one")
    for number in range(49):
        await world.post(f"text {number}")

    async def chunks() -> AsyncIterator[bytes]:
        pytest.fail("the body was read")
        yield b""

    with pytest.raises(QueueFull) as caught:
        await world.gateway.upload(world.who, ingest_pb2.UploadStart, chunks())
    assert caught.value.retry_after_s == 5
    staged: list[str] = []
    stage = world.blobs.stage

    async def noting(*args: Any, **named: Any) -> Any:
        staged.append(args[1])
        return await stage(*args, **named)

    world.blobs.stage = noting
    for number in range(5):
        with pytest.raises(QueueFull):
            await world.post(f"one more {number}")
    assert staged == [], "a full server stores what it then refuses"
    await world.gateway.cancel_document(world.who, first.id)
    await world.post("there is room again")


async def test_the_queue_limit_holds_for_posts_at_the_same_moment(world: Any) -> None:
    answers = await asyncio.gather(*(world.post(f"text {number}") for number in range(60)), return_exceptions=True)
    refused = [each for each in answers if isinstance(each, QueueFull)]
    assert len(refused) == 10
    assert {each.retry_after_s for each in refused} == {5}
    assert len(await world.blobs.documents("t1")) == 50
    assert world.blobs._staging == {}


async def test_a_full_disk_refuses_new_work_and_leaves_nothing(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    world.has_space = False
    with pytest.raises(StorageFull):
        await world.post("x")
    world.has_space = True

    async def full(*_: Any, **__: Any) -> None:
        raise StorageFull

    with monkeypatch.context() as patch:
        patch.setattr(world.blobs, "promote", full)
        with pytest.raises(StorageFull):
            await world.post("x")
        assert await world.nothing_left()
    with monkeypatch.context() as patch:
        patch.setattr(world.catalogue, "accept", full)
        with pytest.raises(StorageFull):
            await world.post("x")
        assert await world.nothing_left()
        assert world.blobs._blobs == {}

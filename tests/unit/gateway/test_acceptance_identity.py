"""Which posts are the same document, and which another."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

import pytest
from eunoe_contracts import topics
from eunoe_contracts.errors import IdempotencyConflict
from eunoe_contracts.stages import Stage
from eunoe_gateway.protobuf import struct


async def test_the_same_post_three_times_is_one_document(world: Any) -> None:
    first = await world.post("x", tags=["a"], metadata=struct({"k": 1}))
    second = await world.post("x", tags=["b"], metadata=struct({"k": 2}))
    third = await world.post("x")
    assert first.id == second.id == third.id
    assert [each.deduplicated for each in (first, second, third)] == [False, True, True]
    assert sorted(second.updated) == ["metadata", "tags"]
    assert list(third.updated) == []
    row = await world.row(first.id)
    assert (row.tags, row.metadata) == (("a", "b"), {"k": 2})
    assert len(world.events(topics.DOCUMENT_ACCEPTED)) == 1
    assert world.blobs._staging == {}
    assert len(await world.blobs.documents("t1")) == 1


async def test_equal_posts_at_the_same_moment_are_one_document(world: Any) -> None:
    answers = await asyncio.gather(*(world.post("x") for _ in range(10)))
    assert len({each.id for each in answers}) == 1
    assert sum(not each.deduplicated for each in answers) == 1
    assert len(world.events(topics.DOCUMENT_ACCEPTED)) == 1
    row = await world.row(answers[0].id)
    assert await world.blobs.read("t1", world.blob_key(row)) == b"x"
    assert world.blobs._staging == {}


async def test_what_makes_another_document(world: Any) -> None:
    ids = {
        (await world.post("x")).id,
        (await world.post("y")).id,
        (await world.post("x", container="b")).id,
        (await world.post("x", name="n.txt")).id,
        (await world.post("x", content_type="markdown")).id,
        (await world.post("x", custom_id="a")).id,
        (await world.post("x", custom_id="b")).id,
        (await world.post("x", idempotency_key="k")).id,
    }
    assert len(ids) == 8


async def test_an_idempotency_key_names_the_document(world: Any) -> None:
    first = await world.post("x", idempotency_key="k")
    again = await world.post("x", idempotency_key="k")
    assert (again.id, again.deduplicated) == (first.id, True)
    with pytest.raises(IdempotencyConflict):
        await world.post("another body", idempotency_key="k")
    assert len(await world.blobs.documents("t1")) == 1
    assert world.blobs._staging == {}
    other = await world.upload(b"x", idempotency_key="k2")
    assert other.id != first.id


async def test_two_bodies_under_one_key_at_the_same_moment(world: Any) -> None:
    answers = await asyncio.gather(*(world.post(f"body {n}", idempotency_key="k") for n in range(4)), return_exceptions=True)
    assert sum(isinstance(each, IdempotencyConflict) for each in answers) == 3
    (won,) = [each for each in answers if not isinstance(each, BaseException)]
    row = await world.row(won.id)
    assert hashlib.sha256(await world.blobs.read("t1", world.blob_key(row))).hexdigest() == row.sha256
    assert len(world.blobs._blobs) == 1


async def test_a_failed_document_posted_again_is_processed_again(world: Any) -> None:
    first = await world.post("x")
    await world.process(first.id, failing={Stage.EMBED: "model_unavailable"})
    assert (await world.row(first.id)).status == "failed"
    again = await world.post("x")
    assert (again.id, again.generation, again.deduplicated, again.status) == (first.id, 2, False, "queued")
    await world.process(first.id)
    assert (await world.row(first.id)).status == "done"
    assert (await world.post("x")).deduplicated

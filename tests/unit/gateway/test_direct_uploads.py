"""Commits of uploads that callers sent to the store themselves: refused for now, repeated, or made twice at once."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from eunoe.v1 import ingest_pb2
from eunoe_contracts.errors import BlobNotFound, QueueFull, StoreUnavailable
from eunoe_stores.blobs.port import StagedBlob

DATA = b"Alice likes tea, and Bob likes coffee."
UPLOAD = "direct-1"


async def chunks() -> AsyncIterator[bytes]:
    yield DATA


@pytest.fixture
async def sent(world: Any) -> Any:
    """A store that takes uploads itself, and has one."""

    async def measure(tenant: str, upload_id: str) -> StagedBlob:
        if (tenant, upload_id) not in world.blobs._staging:
            raise BlobNotFound
        return StagedBlob(upload_id, len(DATA), hashlib.sha256(DATA).hexdigest(), DATA)

    async def upload_form(*_: Any, **__: Any) -> None:
        raise NotImplementedError

    world.blobs.measure, world.blobs.upload_form = measure, upload_form
    await world.blobs.stage("t1", UPLOAD, chunks(), limit=1_000)
    return world


def commit(world: Any) -> Any:
    request = ingest_pb2.CommitUploadRequest(
        upload_id=UPLOAD,
        declared_size=len(DATA),
        declared_sha256=hashlib.sha256(DATA).hexdigest(),
        info=ingest_pb2.ContentInfo(name="a.txt"),
    )
    return world.gateway.commit_upload(world.who, request)


@pytest.mark.parametrize("error", [StoreUnavailable(), QueueFull()])
async def test_what_is_refused_for_now_can_be_committed_later(sent: Any, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    async def refuse(*_: Any, **__: Any) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(sent.catalogue, "plan_accept", refuse)
        with pytest.raises(type(error)):
            await commit(sent)
    assert (await commit(sent)).acceptance.status == "queued"
    assert sent.blobs._staging == {}


async def test_two_commits_at_once_and_a_later_one_give_the_same_document(sent: Any) -> None:
    answers = await asyncio.gather(commit(sent), commit(sent))
    answers.append(await commit(sent))
    assert len({each.acceptance.id for each in answers}) == 1
    assert await sent.catalogue.count_open() == 1
    assert sent.blobs._staging == {}

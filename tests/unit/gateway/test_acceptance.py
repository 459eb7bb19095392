"""What accepting leaves behind, and who may."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from eunoe.v1 import ingest_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import CapabilityUnavailable, EmptyContent, EmptyFile, PermissionDenied
from eunoe_contracts.tenancy import Principal, Scope
from eunoe_gateway.protobuf import plain, struct


async def test_an_accepted_text_has_a_blob_a_row_and_an_event(world: Any) -> None:
    answer = await world.post("Hello.", container="team.a", name="greeting.md", tags=["a", "b", "a"], metadata=struct({"n": 3, "x": [1.5]}))
    assert (answer.container, answer.content_type, answer.status, answer.deduplicated) == ("team.a", "markdown", "queued", False)
    row = await world.row(answer.id)
    assert (row.tags, row.metadata, row.published, row.generation) == (("a", "b"), {"n": 3, "x": [1.5]}, True, 1)
    assert row.blob == f"source-{hashlib.sha256(b'Hello.').hexdigest()[:16]}"
    assert await world.blobs.read("t1", world.blob_key(row)) == b"Hello."
    (event,) = world.events(topics.DOCUMENT_ACCEPTED)
    assert (event.tenant, event.document, event.generation) == ("t1", UUID(answer.id), 1)


async def test_the_default_container_and_format(world: Any) -> None:
    answer = await world.post("x")
    assert (answer.container, answer.content_type) == ("default", "text")
    assert (await world.post("x", content_type="code")).content_type == "code"
    assert (await world.post("x", content_type="text/html; charset=utf-8")).content_type == "html"


async def test_small_files_can_come_in_one_call(world: Any) -> None:
    info = ingest_pb2.ContentInfo(name="a.html")
    answer = await world.gateway.ingest(world.who, ingest_pb2.IngestRequest(info=info, data=b"<html><body>x</body></html>"))
    assert answer.acceptance.content_type == "html"
    with pytest.raises(EmptyFile):
        await world.gateway.ingest(world.who, ingest_pb2.IngestRequest(info=info, data=b""))
    with pytest.raises(EmptyContent):
        await world.gateway.ingest(world.who, ingest_pb2.IngestRequest(info=info))


async def test_the_answer_does_not_wait_for_a_log_that_is_down(world: Any) -> None:
    await world.log.close()
    answer = await world.post("x")
    assert answer.status == "queued"
    assert not (await world.row(answer.id)).published


async def test_accepting_needs_the_scope(world: Any) -> None:
    world.who = Principal("t1", frozenset({Scope.SEARCH}))
    with pytest.raises(PermissionDenied):
        await world.post("x")
    with pytest.raises(PermissionDenied):
        await world.upload(b"x")


async def test_tenants_do_not_share_documents(world: Any) -> None:
    first = await world.post("x")
    world.who = replace(world.who, tenant="t2")
    assert (await world.post("x")).id != first.id


async def test_urls_are_not_fetched_yet(world: Any) -> None:
    with pytest.raises(CapabilityUnavailable):
        await world.gateway.ingest_url(world.who, ingest_pb2.IngestUrlRequest(url="https://example.org"))


def test_whole_numbers_survive_the_struct() -> None:
    assert plain(struct({"a": 1, "b": {"c": [2, 2.5]}, "d": None, "e": True})) == {"a": 1, "b": {"c": [2, 2.5]}, "d": None, "e": True}

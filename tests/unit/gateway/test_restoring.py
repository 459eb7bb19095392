"""Documents that an import brings: their id and time are kept, and nothing that was erased comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from eunoe.v1 import ingest_pb2
from eunoe_contracts.errors import DirectUploadUnavailable, DocumentErased, DocumentNotFound, InvalidField, PermissionDenied
from eunoe_contracts.tenancy import Principal, Scope

KEPT = "11111111-1111-4111-8111-111111111111"


def starting(world: Any, *, identity: str = KEPT, age: timedelta = timedelta(days=400), **info: Any) -> ingest_pb2.UploadStart:
    start = ingest_pb2.UploadStart(info=ingest_pb2.ContentInfo(**info))
    start.restore.id = identity
    start.restore.created_at.FromDatetime(world.clock.now() - age)
    return start


async def restore(world: Any, data: bytes = b"Alice likes tea.", *, who: Principal | None = None, **changes: Any) -> ingest_pb2.Acceptance:
    async def chunks() -> AsyncIterator[bytes]:
        yield data

    start = starting(world, **changes)
    return (await world.gateway.upload(who or world.who, lambda: start, chunks())).acceptance


async def test_id_and_time_are_kept(world: Any) -> None:
    accepted = await restore(world)
    row = await world.row(KEPT)
    assert (accepted.id, row.created_at, row.generation) == (KEPT, world.clock.now() - timedelta(days=400), 1)
    again = await restore(world)
    assert (again.id, again.deduplicated, (await world.row(KEPT)).generation) == (KEPT, True, 1)


async def test_a_time_that_has_not_come_is_now(world: Any) -> None:
    await restore(world, age=timedelta(days=-3))
    assert (await world.row(KEPT)).created_at == world.clock.now()


async def test_it_needs_the_admin_scope_and_an_id(world: Any) -> None:
    with pytest.raises(PermissionDenied):
        await restore(world, who=Principal("t1", frozenset({Scope.INGEST, Scope.SEARCH})))
    with pytest.raises(InvalidField):
        await restore(world, identity="no id")
    assert await world.nothing_left()


async def test_what_was_erased_is_refused_and_what_was_never_accepted_is_not(world: Any) -> None:
    await restore(world)
    await world.process(KEPT)
    await world.gateway.delete_document(world.who, KEPT)
    with pytest.raises(DocumentErased):
        await restore(world)
    assert await world.row(KEPT) is None
    # A fence that the search for orphans left, of an acceptance that was cut off half way.
    other = KEPT.replace("1", "2")
    await world.catalogue.bury_unaccepted("t1", UUID(other), generation=1, now=world.clock.now())
    assert (await restore(world, identity=other)).generation == 2
    # By hand it comes back.
    assert not (await world.post(name="by hand")).deduplicated


@pytest.mark.parametrize(("data", "kind"), [(b"<p>a text about pages</p>", "text"), (b"# a page of code", "code")])
async def test_between_kinds_of_text_the_first_acceptance_decides(world: Any, data: bytes, kind: str) -> None:
    assert (await restore(world, data, content_type=kind)).content_type == kind


async def test_the_bytes_are_read_back(world: Any) -> None:
    data = bytes(range(32, 127)) * 9_000
    identity = (await world.upload(data, name="a.txt")).id
    parts = [each async for each in world.gateway.document_content(world.who, identity)]
    assert (parts[0].document.id, parts[0].document.size_bytes) == (identity, len(data))
    assert b"".join(each.chunk for each in parts[1:]) == data
    await world.gateway.delete_document(world.who, identity)
    with pytest.raises(DocumentNotFound):
        await anext(world.gateway.document_content(world.who, identity))


async def test_a_store_that_takes_no_direct_uploads_says_what_to_do(world: Any) -> None:
    with pytest.raises(DirectUploadUnavailable, match="/v1/documents/upload"):
        await world.gateway.begin_upload(world.who, ingest_pb2.BeginUploadRequest(declared_size=5))
    with pytest.raises(DirectUploadUnavailable):
        await world.gateway.commit_upload(world.who, ingest_pb2.CommitUploadRequest(upload_id="direct-1"))

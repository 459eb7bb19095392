from __future__ import annotations

import asyncio
import hashlib
import io
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from eunoe.v1 import ingest_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import (
    CapabilityUnavailable,
    ChecksumMismatch,
    CorruptDocument,
    EmptyContent,
    EmptyFile,
    IdempotencyConflict,
    InvalidEncoding,
    InvalidField,
    PayloadTooLarge,
    PermissionDenied,
    QueueFull,
    StaleGeneration,
    StorageFull,
    StoreUnavailable,
    UnsupportedFormat,
)
from eunoe_contracts.stages import Stage
from eunoe_contracts.tenancy import Principal, Scope
from eunoe_gateway.protobuf import plain, struct, timestamp


def docx() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", "<document/>")
    return made.getvalue()


def no_docx() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a.txt", "word/ is in the head")
    return made.getvalue()


async def nothing_left(world: Any) -> bool:
    return await world.blobs.tenants() == [] and await world.catalogue.count_open() == 0 and world.events(topics.DOCUMENT_ACCEPTED) == []


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


@pytest.mark.parametrize(
    ("text", "error"),
    [("", EmptyContent), (" \n\t", EmptyContent), ("a\0b", InvalidEncoding), ("x" * 100_001, PayloadTooLarge)],
)
async def test_texts_that_are_refused(world: Any, text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        await world.post(text)
    assert await nothing_left(world)


@pytest.mark.parametrize(
    ("info", "error", "named"),
    [
        ({"content_type": "spreadsheet"}, UnsupportedFormat, "spreadsheet"),
        ({"content_type": "pdf"}, UnsupportedFormat, "upload"),
        ({"content_type": "url"}, CapabilityUnavailable, "not part of this build"),
        ({"container": "a..b"}, InvalidField, "container"),
        ({"container": "a*"}, InvalidField, "container"),
        ({"name": "a\nb"}, InvalidField, "name"),
        ({"custom_id": "x" * 1025}, InvalidField, "custom_id"),
        ({"idempotency_key": "x" * 257}, InvalidField, "idempotency_key"),
        ({"tags": ["x"] * 1 + [f"t{n}" for n in range(64)]}, InvalidField, "tags"),
        ({"tags": ["x" * 257]}, InvalidField, "tags"),
        ({"tags": [" "]}, InvalidField, "tags"),
        ({"metadata": struct({"x": "y" * 70_000})}, InvalidField, "metadata"),
    ],
)
async def test_fields_that_are_refused(world: Any, info: dict[str, Any], error: type[Exception], named: str) -> None:
    with pytest.raises(error, match=named):
        await world.post("x", **info)
    assert await nothing_left(world)


@pytest.mark.parametrize(
    ("data", "name", "error", "named"),
    [
        (b"", "empty.pdf", EmptyFile, "no bytes"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a.png", UnsupportedFormat, "png"),
        (bytes(range(256)) * 10, "a.bin", UnsupportedFormat, "Supported|supported"),
        (b"x" * 1_000_001, "big.txt", PayloadTooLarge, "."),
        (no_docx(), "a.docx", UnsupportedFormat, "zip"),
        (docx()[:-30], "cut.docx", CorruptDocument, "damaged"),
    ],
)
async def test_files_that_are_refused(world: Any, data: bytes, name: str, error: type[Exception], named: str) -> None:
    with pytest.raises(error, match=named):
        await world.upload(data, name=name)
    assert await nothing_left(world)


async def test_the_bytes_decide_the_format(world: Any) -> None:
    assert (await world.upload(docx(), name="a.docx")).content_type == "docx"
    mislabelled = await world.upload(b"%PDF-1.7\n1 0 obj\n", name="really.txt")
    assert mislabelled.content_type == "pdf"
    assert "txt" in mislabelled.warnings[0] or "text" in mislabelled.warnings[0]
    assert (await world.row(mislabelled.id)).warnings == tuple(mislabelled.warnings)
    declared = await world.upload(b"# Title\n", name="", content_type="markdown")
    assert (declared.content_type, list(declared.warnings)) == ("markdown", [])


async def test_declared_size_and_checksum_are_checked(world: Any) -> None:
    data = b"some text"
    with pytest.raises(ChecksumMismatch, match="9 bytes"):
        await world.upload(data, size=10)
    with pytest.raises(ChecksumMismatch, match="SHA-256"):
        await world.upload(data, sha256="0" * 64)
    assert await nothing_left(world)
    assert (await world.upload(data, size=9, sha256=hashlib.sha256(data).hexdigest().upper())).content_type == "text"


async def test_small_files_can_come_in_one_call(world: Any) -> None:
    info = ingest_pb2.ContentInfo(name="a.html")
    answer = await world.gateway.ingest(world.who, ingest_pb2.IngestRequest(info=info, data=b"<html><body>x</body></html>"))
    assert answer.acceptance.content_type == "html"
    with pytest.raises(EmptyFile):
        await world.gateway.ingest(world.who, ingest_pb2.IngestRequest(info=info, data=b""))
    with pytest.raises(EmptyContent):
        await world.gateway.ingest(world.who, ingest_pb2.IngestRequest(info=info))


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
        assert await nothing_left(world)
    with monkeypatch.context() as patch:
        patch.setattr(world.catalogue, "accept", full)
        with pytest.raises(StorageFull):
            await world.post("x")
        assert await nothing_left(world)
        assert world.blobs._blobs == {}


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
    assert await nothing_left(world)


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


async def test_turns_of_a_conversation_are_one_document_each(world: Any) -> None:
    sent = datetime(2026, 2, 3, 4, 5, tzinfo=UTC)
    request = ingest_pb2.AddMessagesRequest(
        container="chat",
        session_id="s1",
        messages=[
            ingest_pb2.Message(speaker="Ann", text="Yes.", sent_at=timestamp(sent)),
            ingest_pb2.Message(speaker="Bob", text="No.", metadata=struct({"mood": "bad"})),
            ingest_pb2.Message(speaker="Ann", text="Yes."),
        ],
    )
    answer = await world.gateway.add_messages(world.who, request)
    assert len({each.id for each in answer.acceptances}) == 3
    again = await world.gateway.add_messages(world.who, request)
    assert all(each.deduplicated for each in again.acceptances)
    rows = [await world.row(each.id) for each in answer.acceptances]
    assert [each.metadata["position"] for each in rows] == [0, 1, 2]
    assert rows[0].metadata == {"session": "s1", "position": 0, "speaker": "Ann", "date": "2026-02-03"}
    assert rows[0].event_time == sent
    assert rows[1].metadata["mood"] == "bad"


@pytest.mark.parametrize(
    ("session", "texts", "error"), [("", ["x"], InvalidField), ("s", [], EmptyContent), ("s", ["x", " "], EmptyContent)]
)
async def test_a_bad_turn_refuses_the_whole_call(world: Any, session: str, texts: list[str], error: type[Exception]) -> None:
    messages = [ingest_pb2.Message(text=each) for each in texts]
    with pytest.raises(error):
        await world.gateway.add_messages(world.who, ingest_pb2.AddMessagesRequest(session_id=session, messages=messages))
    assert await nothing_left(world)


async def test_urls_are_not_fetched_yet(world: Any) -> None:
    with pytest.raises(CapabilityUnavailable):
        await world.gateway.ingest_url(world.who, ingest_pb2.IngestUrlRequest(url="https://example.org"))


def test_whole_numbers_survive_the_struct() -> None:
    assert plain(struct({"a": 1, "b": {"c": [2, 2.5]}, "d": None, "e": True})) == {"a": 1, "b": {"c": [2, 2.5]}, "d": None, "e": True}

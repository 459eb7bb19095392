"""What every BlobStore does. A new adapter is one more entry in `STORES`, or one more server."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from eunoe_contracts.errors import BlobNotFound, InvalidField, PayloadTooLarge, StoreUnavailable
from eunoe_stores.blobs.folder import FolderBlobStore
from eunoe_stores.blobs.port import BlobKey, BlobStore
from eunoe_stores.testing import MemoryBlobStore

STORES: dict[str, Callable[[Path], BlobStore]] = {
    "folder": lambda path: FolderBlobStore(path / "blobs"),
    "memory": lambda _path: MemoryBlobStore(),
}
DOCUMENT = UUID(int=7)


@pytest.fixture(params=[*sorted(STORES), pytest.param("s3", marks=pytest.mark.servers)])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BlobStore]:
    if request.param in STORES:
        yield STORES[request.param](tmp_path)
        return
    from eunoe_stores.blobs.s3.testing import open_fresh_s3, settings_of

    async with open_fresh_s3(settings_of(request.getfixturevalue("servers")["s3"].settings())) as opened:
        yield opened


async def in_chunks(data: bytes, size: int = 100_000) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def key(name: str = "source-0", *, document: UUID = DOCUMENT, generation: int = 1) -> BlobKey:
    return BlobKey(document, generation, name)


async def test_a_staged_upload_is_measured_and_promoted(store: BlobStore) -> None:
    data = bytes(range(256)) * 12_000
    staged = await store.stage("t", "u1", in_chunks(data), limit=len(data))
    assert (staged.size, staged.sha256, staged.head) == (len(data), hashlib.sha256(data).hexdigest(), data[: 64 * 1024])
    assert await store.documents("t") == []
    await store.promote("t", "u1", key())
    await store.promote("t", "u1", key())
    assert await store.read("t", key(), sha256=staged.sha256) == data
    assert b"".join([chunk async for chunk in store.stream("t", key())]) == data
    assert max([len(chunk) async for chunk in store.stream("t", key())]) <= 256 * 1024
    async with store.as_file("t", key()) as path:
        assert await asyncio.to_thread(path.read_bytes) == data


async def test_a_staged_upload_can_be_read_as_a_file(store: BlobStore) -> None:
    await store.stage("t", "u1", in_chunks(b"abc"), limit=3)
    async with store.staged_file("t", "u1") as path:
        assert await asyncio.to_thread(path.read_bytes) == b"abc"
    await store.promote("t", "u1", key())
    with pytest.raises(BlobNotFound):
        async with store.staged_file("t", "u1"):
            pass


async def test_an_upload_past_the_limit_leaves_nothing(store: BlobStore) -> None:
    with pytest.raises(PayloadTooLarge):
        await store.stage("t", "u1", in_chunks(b"x" * 3_000_000), limit=2_999_999)
    with pytest.raises(BlobNotFound):
        await store.promote("t", "u1", key())
    assert await store.tenants() == []


async def test_an_upload_that_breaks_off_leaves_nothing(store: BlobStore) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"x" * 2_000_000
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await store.stage("t", "u1", broken(), limit=10_000_000)
    assert await store.tenants() == []


async def test_put_replaces_and_an_empty_blob_is_a_blob(store: BlobStore) -> None:
    await store.put("t", key(), b"first")
    await store.put("t", key(), b"")
    assert await store.read("t", key()) == b""
    assert [chunk async for chunk in store.stream("t", key())] == []


async def test_a_missing_blob_is_named(store: BlobStore) -> None:
    with pytest.raises(BlobNotFound):
        await store.read("t", key())
    with pytest.raises(BlobNotFound):
        async for _ in store.stream("t", key()):
            pass
    with pytest.raises(BlobNotFound):
        async with store.as_file("t", key()):
            pass
    assert await store.delete_one("t", key()) is False
    await store.discard("t", "unknown")


async def test_a_wrong_checksum_is_not_returned(store: BlobStore) -> None:
    await store.put("t", key(), b"data")
    with pytest.raises(StoreUnavailable):
        await store.read("t", key(), sha256="0" * 64)


async def test_delete_takes_older_generations_of_one_document_only(store: BlobStore) -> None:
    other = uuid4()
    for generation in (1, 2, 3):
        await store.put("t", key("a", generation=generation), b"x")
        await store.put("t", key("b", generation=generation), b"x")
    await store.put("t", key(document=other), b"x")
    await store.put("u", key(), b"x")
    assert await store.delete("t", DOCUMENT, through_generation=2, from_generation=2) == 2
    assert await store.delete("t", DOCUMENT, through_generation=2) == 2
    assert await store.delete("t", DOCUMENT, through_generation=2) == 0
    assert await store.documents("t") == sorted([(DOCUMENT, 3), (other, 1)])
    assert await store.documents("u") == [(DOCUMENT, 1)]
    assert await store.delete_one("u", key()) is True
    assert await store.tenants() == ["t"]


async def test_equal_bytes_of_two_documents_are_erased_apart(store: BlobStore) -> None:
    other = uuid4()
    await store.put("t", key(), b"same")
    await store.put("t", key(document=other), b"same")
    await store.delete("t", DOCUMENT, through_generation=9)
    assert await store.read("t", key(document=other)) == b"same"


async def test_only_stale_uploads_are_swept(store: BlobStore) -> None:
    await store.stage("t", "u1", in_chunks(b"x"), limit=9)
    await store.put("t", key(), b"kept")
    now = datetime.now(UTC)
    assert await store.discard_stale(older_than=now - timedelta(hours=1)) == 0
    assert await store.discard_stale(older_than=now + timedelta(hours=1)) == 1
    with pytest.raises(BlobNotFound):
        await store.promote("t", "u1", key("other"))
    assert await store.read("t", key()) == b"kept"


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "/etc/passwd", "a\0b", ".hidden", "a\n", "x" * 300, "ä"])
async def test_names_that_could_leave_the_tree_are_refused(store: BlobStore, name: str) -> None:
    with pytest.raises(InvalidField):
        await store.put("t", key(name), b"x")
    with pytest.raises(InvalidField):
        await store.stage("t", name, in_chunks(b"x"), limit=9)
    if name:
        with pytest.raises(InvalidField):
            await store.put(f"{name}/", key(), b"x")
    with pytest.raises(InvalidField):
        await store.put("t", key(generation=-1), b"x")


async def test_a_tenant_sees_only_its_own(store: BlobStore) -> None:
    await store.put("t", key(), b"x")
    with pytest.raises(BlobNotFound):
        await store.read("u", key())
    assert await store.delete("u", DOCUMENT, through_generation=9) == 0


async def test_many_writers_and_deleters_at_once(store: BlobStore) -> None:
    async def one(number: int) -> None:
        place = key(f"part-{number}", generation=number % 3)
        await store.put("t", place, b"x" * number)
        assert await store.read("t", place) == b"x" * number
        assert await store.delete_one("t", place)

    await asyncio.gather(*(one(number) for number in range(60)))
    assert await store.documents("t") == []


async def test_uploads_that_come_and_go_at_once_do_not_disturb_each_other(store: BlobStore) -> None:
    """A server that keeps objects as files drops a folder with its last object, in the moment when another one may come into it."""

    async def one(number: int) -> None:
        for turn in range(20):
            upload = f"upload-{number}-{turn}"
            assert (await store.stage("t", upload, in_chunks(b"x"), limit=9)).size == 1
            await store.discard("t", upload)

    await asyncio.gather(*(one(number) for number in range(8)))

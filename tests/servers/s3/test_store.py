"""What is particular to the store on S3: parts, checksums, sweeping, forms, what is refused at the start."""

from __future__ import annotations

import asyncio
import hashlib
import tracemalloc
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import httpx
import pytest
from eunoe_contracts.errors import BlobNotFound, ConfigurationError, StoreUnavailable
from eunoe_stores.blobs.port import BlobKey
from eunoe_stores.blobs.s3 import S3Settings, open_s3
from eunoe_stores.blobs.s3.presigned import UploadForm
from eunoe_stores.blobs.s3.store import S3BlobStore
from eunoe_stores.blobs.s3.testing import open_fresh_s3
from pydantic import SecretStr

pytestmark = pytest.mark.servers
KEY = BlobKey(UUID(int=7), 1, "source")
MIB = 1024 * 1024
LIFETIME = timedelta(minutes=10)


async def megabytes(count: int) -> AsyncIterator[bytes]:
    for number in range(count):
        yield bytes([number % 251]) * MIB


def checksum(count: int) -> str:
    digest = hashlib.sha256()
    for number in range(count):
        digest.update(bytes([number % 251]) * MIB)
    return digest.hexdigest()


async def test_a_large_upload_needs_little_memory_and_keeps_its_checksum(store: S3BlobStore, settings: S3Settings):
    tracemalloc.start()
    try:
        staged = await store.stage("t", "u1", megabytes(48), limit=48 * MIB)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (staged.size, staged.sha256) == (48 * MIB, checksum(48))
    assert peak < 24 * MIB
    async with open_s3(settings.model_copy(update={"prefix": store._keys.staging.removesuffix("staging/")})) as elsewhere:
        await elsewhere.promote("t", "u1", KEY)
    facts = await asyncio.to_thread(store._bucket.facts, store._keys.blob("t", KEY))
    assert (facts.size, facts.sha256) == (48 * MIB, staged.sha256)
    assert await asyncio.to_thread(store._bucket.listed, store._keys.staging, recursive=True) == []
    digest = hashlib.sha256()
    async for chunk in store.stream("t", KEY):
        digest.update(chunk)
    assert digest.hexdigest() == staged.sha256


@pytest.mark.parametrize("size", [0, 1, 5 * MIB - 1, 5 * MIB, 5 * MIB + 1, 10 * MIB])
async def test_sizes_around_that_of_a_part(store: S3BlobStore, size: int):
    async def chunks() -> AsyncIterator[bytes]:
        yield b"x" * (size // 2)
        yield b""
        yield b"x" * (size - size // 2)

    staged = await store.stage("t", "u1", chunks(), limit=size)
    await store.promote("t", "u1", KEY)
    assert (staged.size, len(await store.read("t", KEY, sha256=staged.sha256))) == (size, size)


async def test_what_a_dead_process_left_is_swept(store: S3BlobStore):
    key = store._keys.staged("t", "dead")
    upload = await asyncio.to_thread(store._bucket.begin, key)
    await asyncio.to_thread(store._bucket.put_part, key, upload, 1, b"x" * 5 * MIB)
    await store.stage("t", "u1", megabytes(6), limit=6 * MIB)
    now = datetime.now(UTC)
    assert await store.discard_stale(older_than=now - timedelta(hours=1)) == 0
    assert len(list(store._bucket.uploads(store._keys.staging))) == 1
    assert await store.discard_stale(older_than=now + timedelta(hours=1)) == 1, "the parts are not an upload yet"
    assert list(store._bucket.uploads(store._keys.staging)) == []
    assert await store.tenants() == []


async def send(form: UploadForm, data: bytes, **changes: str) -> int:
    async with httpx.AsyncClient() as client:
        answer = await client.post(form.url, data={**form.fields, **changes}, files={"file": ("file", data)})
    return answer.status_code


async def test_an_upload_that_somebody_sends_himself(store: S3BlobStore):
    form = await store.upload_form("t", "u1", limit=MIB, expires=datetime.now(UTC) + LIFETIME)
    with pytest.raises(BlobNotFound):
        await store.measure("t", "u1")
    assert await send(form, b"x" * (MIB + 1)) >= 400
    assert await send(form, b"x", key=store._keys.staged("other", "u1")) >= 400
    data = bytes(range(256)) * 400
    assert await send(form, data) < 300
    staged = await store.measure("t", "u1")
    assert (staged.size, staged.sha256, staged.head) == (len(data), hashlib.sha256(data).hexdigest(), data[: 64 * 1024])
    await store.promote("t", "u1", KEY)
    assert await store.read("t", KEY, sha256=staged.sha256) == data
    assert await store.tenants() == ["t"]


async def test_what_was_sent_and_never_committed_is_swept(store: S3BlobStore):
    form = await store.upload_form("t", "u1", limit=MIB, expires=datetime.now(UTC) + LIFETIME)
    await send(form, b"forgotten")
    await store.measure("t", "u1")
    assert await store.discard_stale(older_than=datetime.now(UTC) + LIFETIME) == 1
    with pytest.raises(BlobNotFound):
        await store.measure("t", "u1")
    assert await store.tenants() == []


async def test_callers_may_reach_the_server_by_another_address(settings: S3Settings):
    public = f"http://localhost:{settings.endpoint.rpartition(':')[2]}/"
    async with open_fresh_s3(settings.model_copy(update={"public_url": public})) as store:
        form = await store.upload_form("t", "u1", limit=MIB, expires=datetime.now(UTC) + LIFETIME)
        assert form.url.startswith(public)
        assert await send(form, b"by name") < 300
        assert (await store.measure("t", "u1")).size == 7


async def test_bytes_that_were_not_measured_are_not_promoted(store: S3BlobStore):
    form = await store.upload_form("t", "u1", limit=MIB, expires=datetime.now(UTC) + LIFETIME)
    await send(form, b"first")
    await store.measure("t", "u1")
    await send(form, b"other")
    with pytest.raises(StoreUnavailable):
        await store.promote("t", "u1", KEY)
    with pytest.raises(BlobNotFound):
        await store.read("t", KEY)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"secret_key": SecretStr("wrong")}, "refuses our keys"),
        ({"access_key": SecretStr("unknown")}, "refuses our keys"),
        ({"secret_key": SecretStr("")}, "EUNOE_S3__SECRET_KEY"),
        ({"endpoint": "http://127.0.0.1:1"}, "EUNOE_S3__ENDPOINT"),
        ({"bucket": "x"}, "EUNOE_S3__BUCKET"),
        ({"bucket": "absent", "create_bucket": False}, "EUNOE_S3__CREATE_BUCKET"),
    ],
)
async def test_what_cannot_be_right_is_refused_at_the_start(settings: S3Settings, changes: dict[str, object], message: str):
    with pytest.raises(ConfigurationError, match=message):
        async with open_s3(settings.model_copy(update=changes)):
            pass


async def test_six_processes_make_one_bucket(settings: S3Settings):
    chosen = settings.model_copy(update={"bucket": f"made-{uuid4().hex[:8]}"})

    async def use() -> None:
        async with open_s3(chosen) as store:
            assert await store.tenants() == []

    await asyncio.gather(*(use() for _ in range(6)))


async def test_a_closed_store_says_so(store: S3BlobStore, settings: S3Settings):
    async with open_s3(settings) as other:
        pass
    await other.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await other.read("t", KEY)


async def test_what_others_keep_in_the_bucket_is_not_touched(store: S3BlobStore):
    await asyncio.to_thread(store._bucket.put, "elsewhere/t/file", b"x")
    await store.put("t", KEY, b"x")
    assert await store.tenants() == ["t"]
    await store.delete("t", KEY.document, through_generation=9)
    await store.discard_stale(older_than=datetime.now(UTC) + LIFETIME)
    assert await asyncio.to_thread(store._bucket.is_there, "elsewhere/t/file")
    await asyncio.to_thread(store._bucket.remove, "elsewhere/t/file")

"""Answers that are late, cut off, slow or missing: the whole blob or an error of ours, within the limits, and nothing left behind."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from eunoe_contracts.errors import BlobNotFound, StoreUnavailable
from eunoe_stores.blobs.port import BlobKey
from eunoe_stores.blobs.s3 import S3Settings, open_s3
from eunoe_stores.blobs.s3.reading import PIECE_BYTES
from eunoe_stores.blobs.s3.store import S3BlobStore
from eunoe_stores.blobs.s3.testing import open_fresh_s3
from servers.http_faults import Proxy, open_proxy
from servers.ports import HOST, free_ports
from servers.s3 import S3

pytestmark = pytest.mark.servers
KEY = BlobKey(UUID(int=7), 1, "zebra")
DATA = bytes(range(256)) * 24_000
"""Two pieces of a reader, two parts of an upload."""


@pytest.fixture
async def proxy(server: S3) -> AsyncIterator[Proxy]:
    async with open_proxy((HOST, server.port)) as proxy:
        yield proxy


@pytest.fixture
async def spoiled(proxy: Proxy, settings: S3Settings) -> AsyncIterator[S3BlobStore]:
    """A store whose requests all pass through the proxy."""
    async with open_fresh_s3(settings.model_copy(update={"endpoint": f"{HOST}:{proxy.port}"})) as store:
        proxy.seen.clear()
        yield store
        proxy.faults.clear()


async def in_chunks(data: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(data), 100_000):
        yield data[start : start + 100_000]


async def streamed(store: S3BlobStore) -> bytes:
    return b"".join([chunk async for chunk in store.stream("t", KEY)])


async def gather_into(got: list[bytes], store: S3BlobStore) -> None:
    async for chunk in store.stream("t", KEY):
        got.append(chunk)  # noqa: PERF401 - what came before an error must be there


@pytest.mark.parametrize("fault", ["503", "reset", "lost"])
async def test_a_request_that_failed_once_is_sent_again(spoiled: S3BlobStore, proxy: Proxy, fault: str):
    async def spoil(line: bytes) -> None:
        proxy.faults, proxy.only = [fault], line

    await spoil(b"PUT")
    await spoiled.put("t", KEY, DATA)
    await spoil(b"GET")
    assert await spoiled.read("t", KEY) == DATA
    await spoil(b"PUT")
    staged = await spoiled.stage("t", "u1", in_chunks(DATA), limit=len(DATA))
    await spoil(b"HEAD")
    await spoiled.promote("t", "u1", BlobKey(KEY.document, 2, "b"))
    await spoil(b"DELETE")
    assert await spoiled.delete_one("t", KEY)
    assert await spoiled.read("t", BlobKey(KEY.document, 2, "b"), sha256=staged.sha256) == DATA


@pytest.mark.parametrize("fault", ["503", "reset", "silence"])
async def test_a_server_that_never_answers_is_unavailable_within_the_limits(spoiled: S3BlobStore, proxy: Proxy, fault: str):
    proxy.faults = [fault] * 99
    for call in (spoiled.put("t", KEY, b"x"), spoiled.read("t", KEY), spoiled.documents("t"), spoiled.delete_one("t", KEY)):
        began = time.monotonic()
        with pytest.raises(StoreUnavailable) as caught:
            await call
        assert time.monotonic() - began < 10
        assert "zebra" not in str(caught.value)


@pytest.mark.parametrize("fault", ["cut:1000000", "hang:1000000"])
async def test_an_answer_that_breaks_off_is_resumed_where_it_was(spoiled: S3BlobStore, proxy: Proxy, fault: str):
    await spoiled.put("t", KEY, DATA)
    proxy.faults, proxy.only = [fault, "", fault], b"GET"
    assert await streamed(spoiled) == DATA
    assert sum(line.startswith("GET") for line in proxy.seen) == 4, "two pieces, each in two answers"


@pytest.mark.parametrize("fault", ["cut:1000", "hang:1000", "drip"])
async def test_an_answer_that_always_breaks_off_is_never_taken_for_the_blob(spoiled: S3BlobStore, proxy: Proxy, fault: str):
    await spoiled.put("t", KEY, DATA)
    proxy.faults, proxy.only = [fault] * 99, b"GET"
    began = time.monotonic()
    with pytest.raises(StoreUnavailable, match="cut its answer off"):
        await spoiled.read("t", KEY)
    assert time.monotonic() - began < 20


async def test_what_came_before_an_error_is_followed_by_the_error(spoiled: S3BlobStore, proxy: Proxy):
    await spoiled.put("t", KEY, DATA)
    proxy.faults, proxy.only = ["", *["cut:1000"] * 99], b"GET"
    got: list[bytes] = []
    with pytest.raises(StoreUnavailable):
        await gather_into(got, spoiled)
    assert b"".join(got) == DATA[:PIECE_BYTES]


async def test_nobody_listening(settings: S3Settings, store: S3BlobStore):
    (port,) = free_ports(1)
    began = time.monotonic()
    with pytest.raises(StoreUnavailable):
        async with open_s3(settings.model_copy(update={"endpoint": f"{HOST}:{port}"})):
            pass
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("line", [b"uploads=", b"partNumber=2", b"uploadId="])
async def test_an_upload_that_fails_on_its_way_leaves_nothing(spoiled: S3BlobStore, proxy: Proxy, line: bytes):
    proxy.faults, proxy.only = ["503"] * 3, line
    with pytest.raises(StoreUnavailable):
        await spoiled.stage("t", "u1", in_chunks(DATA), limit=len(DATA))
    assert await asyncio.to_thread(lambda: list(spoiled._bucket.uploads(""))) == []
    assert await spoiled.tenants() == []


async def test_an_upload_whose_end_was_not_answered_leaves_nothing(spoiled: S3BlobStore, proxy: Proxy):
    async def chunks() -> AsyncIterator[bytes]:
        async for chunk in in_chunks(DATA):
            yield chunk
        proxy.faults, proxy.only = ["lost"], b"POST"

    with pytest.raises(StoreUnavailable):
        await spoiled.stage("t", "u1", chunks(), limit=len(DATA))
    assert await spoiled.tenants() == []


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.2])
async def test_an_upload_that_is_cancelled_leaves_nothing(store: S3BlobStore, seconds: float):
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield bytes(1_000_000)
            await asyncio.sleep(0.001)

    staging = asyncio.create_task(store.stage("t", "u1", endless(), limit=10**12))
    await asyncio.sleep(seconds)
    staging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await staging
    assert list(store._bucket.uploads(store._keys.staging)) == []
    assert await store.tenants() == []


async def test_a_blob_that_is_replaced_while_it_is_read_is_not_mixed(store: S3BlobStore):
    await store.put("t", KEY, DATA)
    reading = store.stream("t", KEY)
    await anext(reading)
    await store.put("t", KEY, DATA[::-1])
    with pytest.raises(StoreUnavailable, match="replaced"):
        async for _ in reading:
            pass


async def test_bytes_that_are_not_those_that_were_stored_are_noticed(store: S3BlobStore):
    wrong = hashlib.sha256(b"other").hexdigest()
    await asyncio.to_thread(store._bucket.put, store._keys.blob("t", KEY), DATA, sha256=wrong)
    with pytest.raises(StoreUnavailable, match="checksum"):
        await store.read("t", KEY)
    with pytest.raises(StoreUnavailable, match="checksum"):
        await streamed(store)
    with pytest.raises(StoreUnavailable, match="checksum"):
        async with store.as_file("t", KEY):
            pass


async def test_a_killed_server_has_what_it_acknowledged(store: S3BlobStore, server: S3):
    done: list[int] = []
    stop = asyncio.Event()

    async def writer(first: int) -> None:
        number = first
        while not stop.is_set():
            try:
                await store.put("t", BlobKey(KEY.document, 1, f"part-{number}"), f"{number}".encode() * 1000)
            except StoreUnavailable:
                await asyncio.sleep(0.05)
            else:
                done.append(number)
                number += 4

    async def reaches(count: int) -> None:
        deadline = time.monotonic() + 30
        while len(done) < count:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)

    async with asyncio.TaskGroup() as writers:
        for first in range(4):
            writers.create_task(writer(first))
        await reaches(60)
        await asyncio.to_thread(server.kill)
        before = len(done)
        await asyncio.to_thread(server.start)
        await reaches(before + 20)
        stop.set()
    for number in done:
        assert await store.read("t", BlobKey(KEY.document, 1, f"part-{number}")) == f"{number}".encode() * 1000


async def test_a_missing_blob_is_not_an_outage(spoiled: S3BlobStore):
    with pytest.raises(BlobNotFound):
        await spoiled.read("t", KEY)

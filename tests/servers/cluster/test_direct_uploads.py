"""Large files that go to the bucket itself: begun and committed at the gateway, sent past it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import grpc
import httpx
import pytest
from driving import ended, eventually, hits
from eunoe.v1 import ingest_pb2, ingest_pb2_grpc
from eunoe_stores.blobs.s3.connection import make_client
from eunoe_stores.blobs.s3.testing import settings_of
from servers.cluster import Cluster
from servers.fixtures import TOKEN

pytestmark = [pytest.mark.servers, pytest.mark.timeout(1500)]


def text_of(container: str) -> bytes:
    """Larger than one part of an upload, with one line to be found by."""
    line = f"The lantern of {container} hangs in the north tower.\n\n"
    return line.encode() + b"nothing to see here " * 5_000


def begun(http: httpx.Client, size: int) -> dict[str, Any]:
    answer = http.post("/v1/uploads", json={"size": size})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def send(form: dict[str, Any], data: bytes) -> int:
    return httpx.post(form["url"], data=form["fields"], files={"file": ("f", data)}, timeout=60).status_code


def commit(http: httpx.Client, upload_id: str, data: bytes, container: str, **changes: Any) -> httpx.Response:
    said = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "container": container, "name": "tower.txt", **changes}
    return http.post(f"/v1/uploads/{upload_id}/commit", json=said)


@pytest.fixture
def keys(cluster: Cluster) -> Iterator[Any]:
    """Names of all objects that have this in their name."""
    settings = settings_of(cluster.settings)
    client = make_client(settings)

    def found(part: str) -> list[str]:
        listed = client.list_objects(settings.bucket, prefix=settings.prefix, recursive=True)
        return [str(each.object_name) for each in listed if part in str(each.object_name)]

    yield found
    client._http.clear()


def test_a_file_is_sent_to_the_bucket_committed_found_and_erased(http: httpx.Client, keys: Any) -> None:
    container = f"c{uuid4().hex}"
    data = text_of(container)
    form = begun(http, len(data))
    early = commit(http, form["upload_id"], data, container)
    assert (early.status_code, early.json()["code"]) == (404, "upload_not_found")
    assert send(form, data + b"x") >= 400  # not more than was declared
    assert send(form, data) < 300
    accepted = commit(http, form["upload_id"], data, container)
    assert accepted.status_code == 202, accepted.text
    identity = accepted.json()["id"]
    again = commit(http, form["upload_id"], data, container)
    assert (again.status_code, again.json()["id"], again.json()["deduplicated"]) == (202, identity, True)
    assert ended(http, [identity])[0]["status"] == "done"
    assert hits(http, f"lantern of {container} north tower", container)[0]["document_id"] == identity
    assert keys(form["upload_id"]) == []
    assert len(keys(identity)) == 1
    # The same bytes through the gateway are the same document.
    posted = http.post("/v1/documents/upload", files={"file": ("tower.txt", data)}, data={"container": container}).json()
    assert (posted["id"], posted["deduplicated"]) == (identity, True)
    assert http.delete(f"/v1/documents/{identity}").status_code == 200
    eventually(lambda: keys(identity) == [], 60, lambda: keys(identity))
    gone = commit(http, form["upload_id"], data, container)
    assert (gone.status_code, gone.json()["code"]) == (404, "upload_not_found")


def test_other_bytes_than_declared_are_refused_and_removed(http: httpx.Client, keys: Any) -> None:
    container = f"c{uuid4().hex}"
    data = text_of(container)
    form = begun(http, len(data))
    send(form, data[:-1] + b"?")
    refused = commit(http, form["upload_id"], data, container)
    assert (refused.status_code, refused.json()["code"], keys(form["upload_id"])) == (400, "checksum_mismatch", [])
    picture = b"\x89PNG\r\n\x1a\n" + b"\0" * 64
    send(form, picture)
    refused = commit(http, form["upload_id"], picture, container, name="tower.png")
    assert (refused.status_code, refused.json()["code"], keys(form["upload_id"])) == (415, "unsupported_format", [])
    assert send(form, data) < 300
    assert commit(http, form["upload_id"], data, container).status_code == 202
    assert commit(http, "other-1", data, container).json()["code"] == "invalid_field"
    assert http.post("/v1/uploads", json={"size": 2**40}).json()["code"] == "payload_too_large"


def test_the_same_over_grpc(cluster: Cluster, http: httpx.Client) -> None:
    container, metadata = f"c{uuid4().hex}", (("authorization", f"Bearer {TOKEN}"),)
    data = text_of(container)
    with grpc.insecure_channel(cluster.grpc) as channel:
        stub = ingest_pb2_grpc.IngestServiceStub(channel)
        form = stub.BeginUpload(ingest_pb2.BeginUploadRequest(declared_size=len(data)), metadata=metadata, timeout=60)
        assert send({"url": form.url, "fields": dict(form.fields)}, data) < 300
        info = ingest_pb2.ContentInfo(container=container, name="tower.txt")
        digest = hashlib.sha256(data).hexdigest()
        request = ingest_pb2.CommitUploadRequest(upload_id=form.upload_id, info=info, declared_size=len(data), declared_sha256=digest)
        ids = {stub.CommitUpload(request, metadata=metadata, timeout=60).acceptance.id for _ in range(2)}
    assert len(ids) == 1
    assert [each["status"] for each in ended(http, [*ids])] == ["done"]

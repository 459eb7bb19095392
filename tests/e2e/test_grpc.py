"""The main door: gRPC against a real server."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from uuid import uuid4

import grpc
import pytest
from eunoe.v1 import (
    admin_pb2,
    admin_pb2_grpc,
    container_pb2,
    container_pb2_grpc,
    ingest_pb2,
    ingest_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    search_pb2,
    search_pb2_grpc,
)
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status
from servers.door import Door

TIMEOUT = 60


@pytest.fixture
def channel(door: Door) -> Iterator[grpc.Channel]:
    with door.channel() as made:
        yield made


def parts(data: bytes, *, container: str, sha256: str = "") -> Iterator[ingest_pb2.UploadRequest]:
    info = ingest_pb2.ContentInfo(container=container, name="dykes.txt")
    yield ingest_pb2.UploadRequest(start=ingest_pb2.UploadStart(info=info, declared_size=len(data), declared_sha256=sha256))
    for start in range(0, len(data), 1024):
        yield ingest_pb2.UploadRequest(chunk=data[start : start + 1024])


def watched(ingest: ingest_pb2_grpc.IngestServiceStub, identity: str) -> list[str]:
    changes = ingest.WatchDocument(ingest_pb2.WatchDocumentRequest(id=identity), timeout=TIMEOUT)
    return [change.document.status for change in changes]


def reason(error: grpc.RpcError) -> str:
    status = rpc_status.from_call(error)
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    return str(info.reason)


def test_upload_watch_search_related_delete(channel: grpc.Channel) -> None:
    container = f"g{uuid4().hex}"
    ingest, search = ingest_pb2_grpc.IngestServiceStub(channel), search_pb2_grpc.SearchServiceStub(channel)
    data = ("The dyke of Oosterend was raised by Maria Smit in 1953.\n\n" * 50).encode()
    accepted = ingest.Upload(parts(data, container=container, sha256=hashlib.sha256(data).hexdigest()), timeout=TIMEOUT).acceptance
    statuses = watched(ingest, accepted.id)
    order = ["queued", "extracting", "chunking", "embedding", "indexing", "done"]
    assert statuses[-1] == "done"
    assert [order.index(each) for each in statuses] == sorted(order.index(each) for each in statuses)
    request = search_pb2.SearchRequest(query="Who raised the dyke?", containers=[container], limit=3, explain=True)
    answer = search.Search(request, timeout=TIMEOUT)
    hit = answer.results[0]
    assert hit.document_id == accepted.id
    assert hit.source.name == "dykes.txt"
    assert set(hit.arms) >= {"dense", "bm25_body"}
    memories = memory_pb2_grpc.MemoryServiceStub(channel)
    assert memories.GetMemory(memory_pb2.GetMemoryRequest(id=hit.id), timeout=TIMEOUT).memory.content == hit.content
    assert memories.Related(memory_pb2.RelatedRequest(id=hit.id), timeout=TIMEOUT).related is not None
    explained = search.Explain(search_pb2.ExplainRequest(search=request, hit_id=hit.id), timeout=TIMEOUT)
    assert explained.hit.id == hit.id
    assert ingest.DeleteDocument(ingest_pb2.DeleteDocumentRequest(id=accepted.id), timeout=TIMEOUT).deleted
    assert not search.Search(request, timeout=TIMEOUT).results


def test_errors_carry_their_code(channel: grpc.Channel) -> None:
    ingest = ingest_pb2_grpc.IngestServiceStub(channel)
    with pytest.raises(grpc.RpcError) as wrong:
        ingest.Upload(parts(b"some bytes", container="g", sha256="0" * 64), timeout=TIMEOUT)
    assert wrong.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert reason(wrong.value) == "checksum_mismatch"
    with pytest.raises(grpc.RpcError) as missing:
        ingest.GetDocument(ingest_pb2.GetDocumentRequest(id=str(uuid4())), timeout=TIMEOUT)
    assert missing.value.code() is grpc.StatusCode.NOT_FOUND
    assert reason(missing.value) == "document_not_found"
    with pytest.raises(grpc.RpcError) as unsupported:
        ingest.IngestUrl(ingest_pb2.IngestUrlRequest(url="https://example.org"), timeout=TIMEOUT)
    assert reason(unsupported.value) == "capability_unavailable"


def test_turns_of_a_conversation_see_the_turn_before(channel: grpc.Channel) -> None:
    container = f"g{uuid4().hex}"
    ingest, search = ingest_pb2_grpc.IngestServiceStub(channel), search_pb2_grpc.SearchServiceStub(channel)
    turns = [
        ("Ann", "Did you finish the greenhouse?"),
        ("Bo", "Yes, last weekend."),
        ("Ann", "And the pond?"),
        ("Bo", "Not before spring."),
    ]
    messages = [ingest_pb2.Message(speaker=speaker, text=text) for speaker, text in turns]
    request = ingest_pb2.AddMessagesRequest(container=container, session_id="s1", messages=messages)
    first = ingest.AddMessages(request, timeout=TIMEOUT).acceptances
    again = ingest.AddMessages(request, timeout=TIMEOUT).acceptances
    assert [each.id for each in first] == [each.id for each in again]
    for each in first:
        assert watched(ingest, each.id)[-1] == "done"
    question = search_pb2.SearchRequest(query="Is the greenhouse finished?", containers=[container], limit=4)
    found = [hit.content for hit in search.Search(question, timeout=TIMEOUT).results]
    assert "Yes, last weekend." in found[:2]


def test_containers_stats_health(channel: grpc.Channel) -> None:
    container = f"g{uuid4().hex}"
    ingest, containers = ingest_pb2_grpc.IngestServiceStub(channel), container_pb2_grpc.ContainerServiceStub(channel)
    info = ingest_pb2.ContentInfo(container=container)
    identity = ingest.Ingest(ingest_pb2.IngestRequest(info=info, text="Reeds grow by the sluice."), timeout=TIMEOUT).acceptance.id
    assert watched(ingest, identity)[-1] == "done"
    listed = containers.List(container_pb2.ContainerServiceListRequest(prefix=container), timeout=TIMEOUT)
    assert [(each.name, each.document_count) for each in listed.containers] == [(container, 1)]
    stats = admin_pb2_grpc.AdminServiceStub(channel).Stats(admin_pb2.StatsRequest(), timeout=TIMEOUT).stats
    assert stats["documents"]["total"] >= 1
    whole = container_pb2.ContainerServiceDeleteRequest(name=container, confirm=True)
    assert containers.Delete(whole, timeout=TIMEOUT).deleted_count == 1
    health = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=TIMEOUT)
    assert health.status == health_pb2.HealthCheckResponse.SERVING

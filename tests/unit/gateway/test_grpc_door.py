from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import pytest
from eunoe.v1 import admin_pb2, admin_pb2_grpc, ingest_pb2, ingest_pb2_grpc, search_pb2, search_pb2_grpc, types_pb2
from eunoe_contracts.errors import ConfigurationError, DocumentNotFound, QueueFull, Unauthenticated
from eunoe_contracts.tenancy import Principal, Scope
from eunoe_gateway.config import GatewaySettings
from eunoe_gateway.grpc_door.server import GrpcServer, build_server
from eunoe_gateway.grpc_door.servicers import servicers
from eunoe_telemetry.clock import RandomIds, SystemClock
from eunoe_telemetry.metrics import Metrics
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

ALL = frozenset(Scope)


class ScriptedApplication:
    """Answers as the test says."""

    def __init__(self) -> None:
        self.uploaded: list[bytes] = []
        self.last: ingest_pb2.UploadStart | None = None
        self.loopback: bool | None = None
        self.hang = asyncio.Event()
        self.cancelled = False

    async def authenticate(self, secret: str, *, loopback: bool) -> Principal:
        self.loopback = loopback
        if secret not in {"", "good"}:
            raise Unauthenticated
        return Principal("tenant-of-" + (secret or "nobody"), ALL)

    async def ingest(self, who: Principal, request: ingest_pb2.IngestRequest) -> ingest_pb2.IngestResponse:
        if request.text == "full":
            raise QueueFull(retry_after_s=2.5)
        if request.text == "defect":
            raise ZeroDivisionError
        return ingest_pb2.IngestResponse(acceptance=ingest_pb2.Acceptance(id=who.tenant))

    async def upload(
        self, who: Principal, start: Callable[[], ingest_pb2.UploadStart], chunks: AsyncIterator[bytes]
    ) -> ingest_pb2.UploadResponse:
        async for chunk in chunks:
            self.uploaded.append(chunk)
        self.last = start()
        return ingest_pb2.UploadResponse(acceptance=ingest_pb2.Acceptance(id="u"))

    async def get_document(self, who: Principal, document_id: str) -> types_pb2.Document:
        raise DocumentNotFound

    async def watch_document(self, who: Principal, document_id: str, *, since: int) -> AsyncIterator[types_pb2.Document]:
        if document_id == "none":
            raise DocumentNotFound
        for revision in range(since + 1, since + 4):
            yield types_pb2.Document(id=who.tenant, revision=revision)

    async def search(self, who: Principal, request: search_pb2.SearchRequest) -> search_pb2.SearchResponse:
        try:
            await self.hang.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return search_pb2.SearchResponse()

    async def readiness(self) -> admin_pb2.ReadinessResponse:
        return admin_pb2.ReadinessResponse(ready=True)


class Running:
    def __init__(self, server: GrpcServer, application: ScriptedApplication, channel: grpc.aio.Channel, port: int) -> None:
        self.server, self.application, self.channel, self.port = server, application, channel, port
        self.metrics = Metrics()


async def start(settings: GatewaySettings, *, is_loopback: bool = True) -> Running:
    application: Any = ScriptedApplication()
    metrics = Metrics()
    server = build_server(
        application,
        settings,
        servicers=servicers(application, settings),
        metrics=metrics,
        clock=SystemClock(),
        ids=RandomIds(),
        is_loopback=is_loopback,
    )
    port = await server.start("127.0.0.1:0")
    running = Running(server, application, grpc.aio.insecure_channel(f"127.0.0.1:{port}"), port)
    running.metrics = metrics
    return running


@pytest.fixture
async def running() -> AsyncIterator[Running]:
    made = await start(GatewaySettings(grpc_chunk_idle_s=0.2, grpc_default_deadline_s=0.3, grpc_reflection=True))
    yield made
    await made.channel.close()
    await made.server.stop(0)


def stub(running: Running) -> Any:
    return ingest_pb2_grpc.IngestServiceStub(running.channel)


def error_info(error: grpc.aio.AioRpcError) -> tuple[str, list[Any]]:
    status = rpc_status.from_call(error)
    info = error_details_pb2.ErrorInfo()
    assert status is not None
    assert status.details[0].Unpack(info)
    assert info.domain == "eunoe"
    return info.reason, list(status.details[1:])


async def test_a_call_without_a_token_is_anonymous_on_loopback(running: Running) -> None:
    answer = await stub(running).Ingest(ingest_pb2.IngestRequest(text="x"))
    assert answer.acceptance.id == "tenant-of-nobody"
    assert running.application.loopback is True


@pytest.mark.parametrize("header", ["Bearer bad", "good", "Basic good", "Bearer"])
async def test_a_wrong_header_is_never_anonymous(running: Running, header: str) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub(running).Ingest(ingest_pb2.IngestRequest(text="x"), metadata=(("authorization", header),))
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert error_info(caught.value)[0] == "unauthenticated"


async def test_the_bearer_token_decides_the_tenant(running: Running) -> None:
    answer = await stub(running).Ingest(ingest_pb2.IngestRequest(text="x"), metadata=(("authorization", "bearer good"),))
    assert answer.acceptance.id == "tenant-of-good"


async def test_an_error_carries_code_delay_and_request_id(running: Running) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub(running).Ingest(ingest_pb2.IngestRequest(text="full"), metadata=(("x-request-id", "mine-1"),))
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    code, rest = error_info(caught.value)
    delay = error_details_pb2.RetryInfo()
    assert code == "queue_full"
    assert rest[0].Unpack(delay)
    assert delay.retry_delay.ToMilliseconds() == 2500
    assert ("x-request-id", "mine-1") in list(caught.value.trailing_metadata())


async def test_a_defect_is_an_internal_error_without_details_of_it(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub(running).Ingest(ingest_pb2.IngestRequest(text="defect"))
    assert caught.value.code() is grpc.StatusCode.INTERNAL
    assert error_info(caught.value)[0] == "internal_error"
    assert "ZeroDivisionError" in caplog.text


async def test_not_found(running: Running) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub(running).GetDocument(ingest_pb2.GetDocumentRequest(id="x"))
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    assert error_info(caught.value)[0] == "document_not_found"


async def test_an_upload_streams_its_chunks(running: Running) -> None:
    async def parts() -> AsyncIterator[ingest_pb2.UploadRequest]:
        yield ingest_pb2.UploadRequest(start=ingest_pb2.UploadStart(info=ingest_pb2.ContentInfo(name="a.txt")))
        for each in (b"one", b"two"):
            yield ingest_pb2.UploadRequest(chunk=each)

    answer = await stub(running).Upload(parts())
    assert answer.acceptance.id == "u"
    assert running.application.uploaded == [b"one", b"two"]
    assert running.application.last is not None
    assert running.application.last.info.name == "a.txt"


async def test_an_upload_must_begin_with_its_metadata(running: Running) -> None:
    async def parts() -> AsyncIterator[ingest_pb2.UploadRequest]:
        yield ingest_pb2.UploadRequest(chunk=b"x")

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub(running).Upload(parts())
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_silent_upload_is_ended(running: Running) -> None:
    release = asyncio.Event()

    async def parts() -> AsyncIterator[ingest_pb2.UploadRequest]:
        yield ingest_pb2.UploadRequest(start=ingest_pb2.UploadStart())
        await release.wait()

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub(running).Upload(parts())
    release.set()
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert error_info(caught.value)[0] == "deadline_exceeded"


async def test_a_call_without_a_deadline_gets_one(running: Running) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await search_pb2_grpc.SearchServiceStub(running.channel).Search(search_pb2.SearchRequest(query="x"))
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert running.application.cancelled


async def test_watching_is_a_stream(running: Running) -> None:
    seen = [each.document.revision async for each in stub(running).WatchDocument(ingest_pb2.WatchDocumentRequest(since_revision=4))]
    assert seen == [5, 6, 7]
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async for _ in stub(running).WatchDocument(ingest_pb2.WatchDocumentRequest(id="none")):
            pass
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


async def test_health_and_readiness_need_no_token() -> None:
    made = await start(GatewaySettings(), is_loopback=False)
    bad = (("authorization", "Bearer bad"),)
    health = health_pb2_grpc.HealthStub(made.channel)
    answer: Any = await health.Check(health_pb2.HealthCheckRequest(service="eunoe.v1.IngestService"), metadata=bad)
    assert answer.status == health_pb2.HealthCheckResponse.SERVING
    ready: Any = await admin_pb2_grpc.AdminServiceStub(made.channel).Readiness(admin_pb2.ReadinessRequest(), metadata=bad)
    assert ready.ready
    await made.channel.close()
    await made.server.stop(0)
    await made.server.stop(0)


async def test_a_taken_port_is_a_named_error(running: Running) -> None:
    application: Any = ScriptedApplication()
    settings = GatewaySettings()
    second = build_server(application, settings, servicers=(), metrics=Metrics(), clock=SystemClock(), ids=RandomIds(), is_loopback=True)
    with pytest.raises(ConfigurationError):
        await second.start(f"127.0.0.1:{running.port}")
    await second.stop(0)


async def test_calls_are_counted_by_method_and_code(running: Running) -> None:
    await stub(running).Ingest(ingest_pb2.IngestRequest(text="x"))
    labels = {"method": "/eunoe.v1.IngestService/Ingest", "code": "OK"}
    assert running.metrics.registry.get_sample_value("eunoe_gateway_requests_total", labels) == 1

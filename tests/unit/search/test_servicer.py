from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from eunoe.v1 import search_pb2, search_pb2_grpc
from eunoe_search.wiring import build
from google.rpc import error_details_pb2
from grpc_status import rpc_status

TENANT = (("eunoe-tenant", "acme"),)


@pytest.fixture
async def stub(library: Any) -> AsyncIterator[search_pb2_grpc.SearchServiceAsyncStub]:
    ports = {name: getattr(library.searcher.ports, name) for name in ("catalogue", "vectors", "graph", "model", "clock")}
    service = build(library.settings, **ports, metrics=library.metrics)
    server = grpc.aio.server()
    for add in service.servicers:
        add(server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield search_pb2_grpc.SearchServiceStub(channel)
    await server.stop(None)


async def test_search_and_explain_over_grpc(library: Any, stub: Any) -> None:
    await library.add("bread", "flour and water")
    answer = await stub.Search(search_pb2.SearchRequest(query="flour"), metadata=TENANT)
    assert answer.results[0].source.name == "bread"
    explained = await stub.Explain(
        search_pb2.ExplainRequest(search=search_pb2.SearchRequest(query="flour"), hit_id=answer.results[0].id), metadata=TENANT
    )
    assert explained.hit.arms["bm25_body"].rank == 1


async def test_an_error_carries_its_code(library: Any, stub: Any) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.Search(search_pb2.SearchRequest(query=" "), metadata=TENANT)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    status = rpc_status.from_call(caught.value)
    info = error_details_pb2.ErrorInfo()
    assert status is not None
    assert status.details[0].Unpack(info)
    assert (info.reason, info.domain) == ("empty_content", "eunoe")
    with pytest.raises(grpc.aio.AioRpcError) as missing:
        await stub.Explain(search_pb2.ExplainRequest(search=search_pb2.SearchRequest(query="x"), hit_id="y"), metadata=TENANT)
    assert missing.value.code() is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize("metadata", [(), (("eunoe-tenant", "a b"),), (*TENANT, *TENANT)])
async def test_a_call_without_one_valid_tenant_is_refused(library: Any, stub: Any, metadata: Any) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.Search(search_pb2.SearchRequest(query="x"), metadata=metadata)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT

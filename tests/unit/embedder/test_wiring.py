"""What the embedder offers to a process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
import numpy as np
import pytest
from eunoe.v1 import embed_pb2, embed_pb2_grpc
from eunoe_contracts import topics
from eunoe_contracts.errors import ModelMismatch
from eunoe_contracts.stages import Stage
from eunoe_embedder.config import EmbedderSettings
from eunoe_embedder.wiring import bind, build
from eunoe_models.embedding.port import Lane
from eunoe_models.testing import HashingEmbedder
from grpc_status import rpc_status


def test_subscriptions(shelf: Any, index: Any, model: HashingEmbedder) -> None:
    service = build(EmbedderSettings(max_attempts=3), catalogue=shelf, vectors=index, model=model)
    assert [(each.topic, each.stage, each.undo is not None) for each in service.subscriptions] == [
        (topics.DOCUMENT_EXTRACTED, Stage.EMBED, True),
        (topics.MEMORIES_PROPOSED, Stage.EMBED_MEMORIES, True),
        (topics.MEMORY_CHANGED, None, False),
        (topics.DOCUMENT_ERASED, None, False),
    ]
    assert {(each.group, each.max_attempts) for each in service.subscriptions} == {("embedder", 3)}


async def test_the_work_of_the_model_keeps_long_documents_alive(shelf: Any, index: Any, model: HashingEmbedder) -> None:
    advances = [each.advance for each in build(EmbedderSettings(), catalogue=shelf, vectors=index, model=model).subscriptions]
    await model.embed(["one", "two"])
    await model.embed(["a query"], lane=Lane.INTERACTIVE)
    assert [advance and advance() for advance in advances] == [2, None, None, None]
    by_words = build(EmbedderSettings(), catalogue=shelf, vectors=index, model=None)
    assert {each.advance for each in by_words.subscriptions} == {None}


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EUNOE_EMBEDDER__CONCURRENCY", "3")
    assert EmbedderSettings().concurrency == 3


async def test_the_index_is_tied_to_the_model(shelf: Any, index: Any, model: HashingEmbedder, make: Any) -> None:
    await bind(index, None)
    assert await index.bound_model() is None
    await bind(index, model)
    await bind(index, model)
    assert await index.bound_model() == "hashing-1"
    row = make.document()
    from eunoe_embedder.rows import unit_row

    await index.upsert("t", [unit_row(make.passage(row, 0, "text"), row, (await model.embed(["text"]))[0])])
    with pytest.raises(ModelMismatch, match="rebuild"):
        await bind(index, HashingEmbedder(model_id="hashing-2"))
    await bind(index, None)


@pytest.fixture
async def channel(shelf: Any, index: Any, model: HashingEmbedder, request: pytest.FixtureRequest) -> AsyncIterator[grpc.aio.Channel]:
    served = None if "without" in request.node.name else model
    server = grpc.aio.server()
    for add in build(EmbedderSettings(request_texts=4), catalogue=shelf, vectors=index, model=served).servicers:
        add(server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as opened:
        yield opened
    await server.stop(0)


async def test_embed_calls_take_the_interactive_lane(channel: grpc.aio.Channel, model: HashingEmbedder) -> None:
    stub = embed_pb2_grpc.EmbedServiceStub(channel)
    answer = await stub.Embed(embed_pb2.EmbedRequest(texts=["one", "two"]))
    assert answer.model_id == "hashing-1"
    expected = await model.embed(["one", "two"])
    assert np.allclose([vector.values for vector in answer.vectors], expected, atol=1e-6)
    await stub.Embed(embed_pb2.EmbedRequest(texts=["one"], lane="bulk", role="passage"))
    assert [lane for lane, _ in model.calls] == [Lane.INTERACTIVE, Lane.BULK, Lane.BULK]


async def refused(channel: grpc.aio.Channel, request: embed_pb2.EmbedRequest) -> tuple[grpc.StatusCode, bytes]:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await embed_pb2_grpc.EmbedServiceStub(channel).Embed(request)
    status = rpc_status.from_call(caught.value)
    assert status is not None
    return caught.value.code(), status.details[0].value


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (embed_pb2.EmbedRequest(texts=["x"] * 5), b"invalid_field"),
        (embed_pb2.EmbedRequest(texts=["x"], lane="fast"), b"invalid_field"),
        (embed_pb2.EmbedRequest(texts=["x"], role="title"), b"invalid_field"),
    ],
)
async def test_bad_requests_are_named(channel: grpc.aio.Channel, request_: embed_pb2.EmbedRequest, code: bytes) -> None:
    status, details = await refused(channel, request_)
    assert status is grpc.StatusCode.INVALID_ARGUMENT
    assert code in details


async def test_a_model_that_fails_is_unavailable(channel: grpc.aio.Channel, model: HashingEmbedder) -> None:
    model.failing = True
    status, details = await refused(channel, embed_pb2.EmbedRequest(texts=["x"]))
    assert status is grpc.StatusCode.UNAVAILABLE
    assert b"model_unavailable" in details


async def test_without_a_model_the_capability_is_missing(channel: grpc.aio.Channel) -> None:
    status, details = await refused(channel, embed_pb2.EmbedRequest(texts=["x"]))
    assert status is grpc.StatusCode.UNIMPLEMENTED
    assert b"capability_unavailable" in details

"""Calls between processes on loopback: the secret, errors of the other side, an address that is away, the deadline."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import grpc
import pytest
from eunoe.v1 import embed_pb2, embed_pb2_grpc
from eunoe_contracts.errors import (
    DeadlineExceeded,
    InternalError,
    InvalidField,
    ModelUnavailable,
    QueueFull,
    TransientError,
)
from eunoe_process.internal_client import Callee, calling
from eunoe_process.internal_server import internal_server
from eunoe_process.listening import Address
from eunoe_telemetry.clock import SystemClock
from eunoe_telemetry.metrics import Metrics
from eunoe_telemetry.testing import eventually

SECRET = "the secret of this test"
EMBED = "/eunoe.v1.EmbedService/Embed"
HOME = Address("127.0.0.1", 0)


class Embedder(embed_pb2_grpc.EmbedServiceServicer):
    """Answers with its name; does `first` before."""

    def __init__(self, name: str, first: Callable[[], Any] = lambda: None) -> None:
        self.name, self.first, self.calls = name, first, 0

    async def Embed(self, request: embed_pb2.EmbedRequest, context: Any) -> embed_pb2.EmbedResponse:  # noqa: N802
        self.calls += 1
        waited = self.first()
        if waited is not None:
            await waited
        return embed_pb2.EmbedResponse(model_id=self.name)


@asynccontextmanager
async def serving(servicer: Embedder, *, secret: str = SECRET, metrics: Metrics | None = None) -> AsyncIterator[str]:
    add = partial(embed_pb2_grpc.add_EmbedServiceServicer_to_server, servicer)
    async with internal_server(HOME, [add], secret=secret, metrics=metrics or Metrics(), clock=SystemClock()) as address:
        yield str(address)


def caller(*addresses: str, secret: str = SECRET, deadline_s: float = 5.0, away: type[TransientError] = ModelUnavailable) -> Any:
    return calling("embedder", addresses, setting="X", secret=secret, deadline_s=deadline_s, away=away)


async def embed(callee: Callee) -> str:
    return (await callee.call(EMBED, embed_pb2.EmbedRequest(texts=["x"]), embed_pb2.EmbedResponse)).model_id


async def answered_by(callee: Callee, name: str) -> bool:
    return await embed(callee) == name


async def test_turn_about_over_the_addresses_and_counted() -> None:
    metrics = Metrics()
    async with serving(Embedder("a"), metrics=metrics) as a, serving(Embedder("b")) as b, caller(a, b) as callee:
        assert [await embed(callee) for _ in range(4)] == ["a", "b", "a", "b"]
    labels = {"method": EMBED, "code": "OK"}
    assert metrics.registry.get_sample_value("eunoe_internal_requests_total", labels) == 2


async def test_without_the_secret_nobody_is_served_and_the_caller_is_told_what_to_set(caplog: pytest.LogCaptureFixture) -> None:
    servicer = Embedder("a")
    async with serving(servicer) as address:
        for secret in ("", "another secret, just as long"):
            async with caller(address, secret=secret) as callee:
                with pytest.raises(ModelUnavailable, match="does not accept the secret"):
                    await embed(callee)
        assert "EUNOE_INTERNAL__SECRET" in caplog.text
        assert SECRET not in caplog.text
    assert servicer.calls == 0


async def test_health_needs_no_secret() -> None:
    async with serving(Embedder("a")) as address, caller(address, secret="") as callee:
        assert await callee.probe() == (True, address)


@pytest.mark.parametrize(
    ("raised", "met"),
    [
        (InvalidField("texts: at most 4"), InvalidField("texts: at most 4")),
        (QueueFull("busy", retry_after_s=1.5), QueueFull("busy", retry_after_s=1.5)),
        (ValueError("the content of a document"), InternalError("unexpected ValueError")),
    ],
)
async def test_errors_come_back_as_they_were_raised(raised: Exception, met: Any) -> None:
    def fail() -> None:
        raise raised

    async with serving(Embedder("a", fail)) as address, caller(address) as callee:
        with pytest.raises(type(met)) as caught:
            await embed(callee)
    assert (caught.value.message, caught.value.retry_after_s) == (met.message, met.retry_after_s)


async def test_an_error_of_the_other_side_is_not_asked_again_elsewhere() -> None:
    def fail() -> None:
        raise ModelUnavailable("this one failed")

    other = Embedder("b")
    async with serving(Embedder("a", fail)) as a, serving(other) as b, caller(a, b) as callee:
        with pytest.raises(ModelUnavailable, match="this one failed"):
            await embed(callee)
    assert other.calls == 0


async def test_one_that_is_away_is_passed_over_and_used_again_when_it_is_back() -> None:
    async with serving(Embedder("b")) as b:
        async with serving(Embedder("a")) as a:
            pass  # gone, its port free
        async with caller(a, b) as callee:
            assert [await embed(callee) for _ in range(4)] == ["b"] * 4
            ok, reason = await callee.probe()
            assert ok
            assert a in reason
            add = partial(embed_pb2_grpc.add_EmbedServiceServicer_to_server, Embedder("a again"))
            at = Address.parse(a, setting="X")
            async with internal_server(at, [add], secret=SECRET, metrics=Metrics(), clock=SystemClock()):
                await eventually(lambda: answered_by(callee, "a again"))


async def test_all_away_is_told_with_the_status() -> None:
    async with serving(Embedder("a")) as a:
        pass
    async with caller(a) as callee:
        with pytest.raises(ModelUnavailable, match=r"the embedder cannot be reached \(UNAVAILABLE\)"):
            await embed(callee)
        assert await callee.probe() == (False, f"no answer from {a}")


async def test_the_deadline_holds_for_all_attempts_together() -> None:
    hanging = asyncio.Event()
    began = asyncio.get_running_loop().time()
    async with (
        serving(Embedder("a", hanging.wait)) as a,
        serving(Embedder("b", hanging.wait)) as b,
        caller(a, b, deadline_s=0.4) as callee,
    ):
        with pytest.raises(DeadlineExceeded, match=r"within 0\.4 s"):
            await embed(callee)
        assert asyncio.get_running_loop().time() - began < 3
        hanging.set()


async def test_a_hanging_one_leaves_time_for_the_next() -> None:
    hanging = asyncio.Event()
    async with serving(Embedder("a", hanging.wait)) as a, serving(Embedder("b")) as b, caller(a, b, deadline_s=1.0) as callee:
        assert await embed(callee) == "b"
        hanging.set()


async def test_a_taken_port_is_told() -> None:
    from eunoe_contracts.errors import ConfigurationError

    async with serving(Embedder("a")) as address:
        add = partial(embed_pb2_grpc.add_EmbedServiceServicer_to_server, Embedder("b"))
        with pytest.raises(ConfigurationError, match="cannot listen on"):
            async with internal_server(Address.parse(address, setting="X"), [add], secret="", metrics=Metrics(), clock=SystemClock()):
                raise AssertionError("never")


async def test_an_unknown_method_is_unimplemented() -> None:
    async with serving(Embedder("a")) as address, grpc.aio.insecure_channel(address) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await channel.unary_unary("/eunoe.v1.EmbedService/Guess")(b"")
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED

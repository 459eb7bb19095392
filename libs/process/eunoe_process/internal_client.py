"""Calls to other processes of this system: kept channels, turn about over the addresses, the next one when one is away, a deadline."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import grpc
from eunoe_contracts.errors import DeadlineExceeded, TransientError, Unauthenticated
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2

from eunoe_process.internal_server import MESSAGE_BYTES
from eunoe_process.listening import Address
from eunoe_process.rpc_errors import told_by
from eunoe_process.secret import call_metadata

Answer = TypeVar("Answer", bound=Message)
HEALTH_CHECK = "/grpc.health.v1.Health/Check"
ROUND_ROBIN = json.dumps({"loadBalancingConfig": [{"round_robin": {}}]})
OPTIONS = (
    ("grpc.service_config", ROUND_ROBIN),  # among the addresses of one name; among the names it is this module
    ("grpc.max_receive_message_length", MESSAGE_BYTES),
    ("grpc.max_send_message_length", MESSAGE_BYTES),
    ("grpc.enable_retries", 0),
    # By default a process that was away is not tried again for up to two minutes, and its name not looked up for half of one.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.dns_min_time_between_resolutions_ms", 5_000),
    # A machine that is gone without a word is noticed.
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.use_local_subchannel_pool", 1),
)
TRY_ANOTHER = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED})
logger = logging.getLogger(__name__)


class Callee:
    """The processes of one kind. Made inside an event loop, used from its tasks. `away` is what is raised when none of them answers."""

    def __init__(self, name: str, addresses: Sequence[Address], *, secret: str, deadline_s: float, away: type[TransientError]) -> None:
        self.name = name
        self._addresses = tuple(addresses)
        self._channels = tuple(grpc.aio.insecure_channel(str(each), options=OPTIONS) for each in addresses)
        self._stubs: dict[tuple[int, str], Any] = {}
        self._turn = itertools.count()
        self._metadata = call_metadata(secret)
        self._deadline_s = deadline_s
        self._away = away

    async def call(
        self, method: str, request: Message, answer: type[Answer], *, metadata: Sequence[tuple[str, str]] = (), idempotent: bool = True
    ) -> Answer:
        """One call, within the deadline in all. What the other process raised is raised here as the same class of our tree.

        An address that does not answer is left for the next one, which takes calls that may be made twice.
        """
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + self._deadline_s
        first, attempts = next(self._turn), len(self._channels) if idempotent else 1
        last: grpc.aio.AioRpcError | None = None
        for attempt in range(attempts):
            stub = self._stub((first + attempt) % len(self._channels), method, answer)
            limit = (ends_at - loop.time()) / (attempts - attempt)
            try:
                found: Answer = await stub(request, timeout=max(limit, 0.001), metadata=(*self._metadata, *metadata))
            except grpc.aio.AioRpcError as error:
                last = error
                told = told_by(error)
                if isinstance(told, Unauthenticated):
                    logger.error("%s does not accept the secret of this process: EUNOE_INTERNAL__SECRET must be the same", self.name)  # noqa: TRY400
                    raise self._away(f"the {self.name} does not accept the secret of this process") from None
                if told is not None:
                    raise told from None
                if error.code() not in TRY_ANOTHER:
                    break
            else:
                return found
        raise self._failure(last) from None

    async def probe(self) -> tuple[bool, str]:
        """Whether all of them answer."""
        names = [str(each) for each in self._addresses]
        found = await asyncio.gather(*(self._serves(at) for at in range(len(names))))
        away = [name for name, serves in zip(names, found, strict=True) if not serves]
        if not away:
            return True, ", ".join(names)
        return len(away) < len(names), f"no answer from {', '.join(away)}"

    async def close(self) -> None:
        """Close the channels. May be called twice."""
        await asyncio.gather(*(each.close() for each in self._channels))

    def _stub(self, at: int, method: str, answer: type[Message]) -> Any:
        key = (at, method)
        if key not in self._stubs:
            serialise: Callable[[Any], bytes] = lambda message: message.SerializeToString()  # noqa: E731 - as gRPC's own stubs
            self._stubs[key] = self._channels[at].unary_unary(method, serialise, answer.FromString)
        return self._stubs[key]

    async def _serves(self, at: int) -> bool:
        stub = self._stub(at, HEALTH_CHECK, health_pb2.HealthCheckResponse)
        try:
            answer = await stub(health_pb2.HealthCheckRequest(), timeout=self._deadline_s)
        except grpc.aio.AioRpcError:
            return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    def _failure(self, error: grpc.aio.AioRpcError | None) -> TransientError:
        if error is not None and error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
            return DeadlineExceeded(f"the {self.name} did not answer within {self._deadline_s:g} s")
        status = error.code().name if error is not None else "no address"
        return self._away(f"the {self.name} cannot be reached ({status})")


@asynccontextmanager
async def calling(
    name: str, addresses: Sequence[str], *, setting: str, secret: str, deadline_s: float, away: type[TransientError]
) -> AsyncIterator[Callee]:
    """A `Callee` while the context lives. Raises `ConfigurationError` for an address that is none."""
    callee = Callee(name, [Address.parse(each, setting=setting) for each in addresses], secret=secret, deadline_s=deadline_s, away=away)
    try:
        yield callee
    finally:
        await callee.close()

"""The gRPC door for other processes of this system: one listener, one secret, health."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import grpc
from eunoe_contracts.clock import Clock
from eunoe_contracts.errors import ConfigurationError, InternalError, Unauthenticated, as_eunoe_error
from eunoe_stream.subscription import AddServicer
from eunoe_telemetry.metrics import Metrics
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from eunoe_process.listening import Address
from eunoe_process.rpc_errors import abort
from eunoe_process.secret import HEADER, is_one_of_us

HEALTH = "/grpc.health.v1.Health/"
MESSAGE_BYTES = 64 * 1024 * 1024
STOP_S = 5.0
OPTIONS = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES),
    ("grpc.max_send_message_length", MESSAGE_BYTES),
    ("grpc.so_reuseport", 0),  # a second server on the port must fail, not share it
    # Callers look every 20 seconds whether this machine is still there; by default such pings are an offence.
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
)
logger = logging.getLogger(__name__)
Context = grpc.aio.ServicerContext[Any, Any]


class InternalGuard(grpc.aio.ServerInterceptor):
    """Lets in who knows the secret, names every failure by our codes, and counts. Only calls with one request and one answer."""

    def __init__(self, secret: str, metrics: Metrics, clock: Clock) -> None:
        self._secret = secret
        self._metrics = metrics
        self._clock = clock

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler[Any, Any] | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """The handler with the guard around it."""
        handler: Any = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None:  # an unknown method: gRPC answers UNIMPLEMENTED
            return None
        if method.startswith(HEALTH):  # for everybody: probes know no secret
            found: grpc.RpcMethodHandler[Any, Any] = handler
            return found
        given = [str(value) for key, value in handler_call_details.invocation_metadata or () if key == HEADER]

        async def guarded(request: Any, context: Context) -> Any:
            return await self._call(method, handler.unary_unary, request, context, given[0] if len(given) == 1 else "")

        made: grpc.RpcMethodHandler[Any, Any] = grpc.unary_unary_rpc_method_handler(
            guarded, handler.request_deserializer, handler.response_serializer
        )
        return made

    async def _call(self, method: str, behaviour: Callable[..., Awaitable[Any]], request: Any, context: Context, given: str) -> Any:
        started, code = self._clock.monotonic(), "OK"
        try:
            if not is_one_of_us(given, self._secret):
                raise Unauthenticated("the caller does not know the secret of this system (EUNOE_INTERNAL__SECRET)")  # noqa: TRY301
            return await behaviour(request, context)
        except asyncio.CancelledError:
            code = "CANCELLED"
            raise
        except grpc.aio.AbortError:
            code = "ABORTED"
            raise
        except Exception as error:
            known = as_eunoe_error(error)
            if isinstance(known, InternalError):
                logger.exception("internal call %s failed", method)
            code = known.grpc_status.name
            await abort(context, known)
        finally:
            self._metrics.count("internal_requests_total", method=method, code=code)
            self._metrics.observe("internal_request_duration_seconds", self._clock.monotonic() - started, method=method)


@asynccontextmanager
async def internal_server(
    address: Address, servicers: Iterable[AddServicer], *, secret: str, metrics: Metrics, clock: Clock
) -> AsyncIterator[Address]:
    """Serve while the context lives; yields the address with its port. Running calls get a few seconds at the end.

    Raises `ConfigurationError` when the address is taken.
    """
    server = grpc.aio.server(interceptors=(InternalGuard(secret, metrics, clock),), options=OPTIONS)
    for add in servicers:
        add(server)
    state = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(state, server)
    try:
        port = server.add_insecure_port(str(address))
    except RuntimeError as error:
        raise ConfigurationError(f"cannot listen on {address}; is another program using it?") from error
    await server.start()
    await state.set("", health_pb2.HealthCheckResponse.SERVING)
    try:
        yield Address(address.host, port)
    finally:
        await state.enter_graceful_shutdown()
        await server.stop(STOP_S)

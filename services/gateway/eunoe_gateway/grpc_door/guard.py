"""What every gRPC call passes: request id, trace, authentication, deadline, error mapping, metrics."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.errors import DeadlineExceeded, InternalError, Unauthenticated, as_eunoe_error
from eunoe_contracts.trace import HEADER as TRACE_HEADER
from eunoe_telemetry.metrics import Metrics

from eunoe_gateway import tracing
from eunoe_gateway.application import Application
from eunoe_gateway.config import GatewaySettings
from eunoe_gateway.grpc_door import caller
from eunoe_gateway.grpc_door.failures import REQUEST_ID, abort, status_name

Context = grpc.aio.ServicerContext[Any, Any]
OPEN = ("/grpc.health.v1.Health/", "/eunoe.v1.AdminService/Readiness")
"""Methods that need no token: probes have none."""

BEARER = re.compile(r"Bearer\s+(\S+)\s*\Z", re.IGNORECASE)
CALLER_ID = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
logger = logging.getLogger(__name__)


def _all_metadata(context: Context, name: str) -> list[str]:
    given = [value for key, value in context.invocation_metadata() or () if key == name]
    return [value if isinstance(value, str) else value.decode("ascii", "replace") for value in given]


def _metadata(context: Context, name: str) -> str:
    return next(iter(_all_metadata(context, name)), "")


@dataclass(frozen=True, slots=True)
class Guard:
    """Runs a handler's behaviour for one call. `is_loopback`: the listener can be reached from this machine only."""

    application: Application
    settings: GatewaySettings
    metrics: Metrics
    clock: Clock
    ids: Ids
    is_loopback: bool

    async def admit(self, method: str, context: Context) -> None:
        """Authenticate. Raises `Unauthenticated`."""
        if method.startswith(OPEN):
            return
        given = _metadata(context, "authorization")
        found = BEARER.match(given)
        if given and found is None:  # a header of another kind is a wrong token, never an anonymous call
            raise Unauthenticated
        secret = found[1] if found else ""
        caller.enter(await self.application.authenticate(secret, loopback=self.is_loopback))

    def limit(self, context: Context, *, streams: bool) -> float:
        """Seconds that this call gets."""
        settings = self.settings
        longest = settings.grpc_stream_deadline_s if streams else settings.grpc_max_deadline_s
        default = longest if streams else settings.grpc_default_deadline_s
        remaining = context.time_remaining()
        return min(default if remaining is None else remaining, longest)

    @asynccontextmanager
    async def watching(self, method: str, context: Context) -> AsyncIterator[None]:
        """Name the call, count it, time it, and turn what it raises into a status."""
        given = _metadata(context, REQUEST_ID)
        request_id = given if CALLER_ID.match(given) else self.ids.new()
        context.set_trailing_metadata(((REQUEST_ID, request_id),))
        tracing.enter(_all_metadata(context, TRACE_HEADER), self.ids)
        started, code = self.clock.monotonic(), "OK"
        try:
            yield
        except (asyncio.CancelledError, GeneratorExit):
            code = "CANCELLED"
            raise
        except grpc.aio.AbortError:
            code = "ABORTED"
            raise
        except Exception as error:
            known = as_eunoe_error(error)
            if isinstance(known, InternalError):
                logger.exception("call %s failed, request %s", method, request_id)
            code = status_name(known)
            await abort(context, known, request_id)
        finally:
            self.metrics.count("gateway_requests_total", method=method, code=code)
            self.metrics.observe("gateway_request_duration_seconds", self.clock.monotonic() - started, method=method)

    async def unary(self, method: str, behaviour: Callable[[Any, Context], Awaitable[Any]], request: Any, context: Context) -> Any:
        """One call with one answer; `request` may be a stream."""
        async with self.watching(method, context):
            await self.admit(method, context)
            limit = self.limit(context, streams=hasattr(request, "__aiter__"))
            try:
                async with asyncio.timeout(limit):
                    return await behaviour(request, context)
            except TimeoutError as error:
                raise DeadlineExceeded(f"The call took longer than {limit:g} s.") from error

    async def stream(
        self, method: str, behaviour: Callable[[Any, Context], AsyncIterator[Any]], request: Any, context: Context
    ) -> AsyncIterator[Any]:
        """One call with a stream of answers."""
        async with self.watching(method, context):
            await self.admit(method, context)
            ends_at = self.clock.monotonic() + self.limit(context, streams=True)
            answers = aiter(behaviour(request, context))
            while True:
                try:
                    answer = await asyncio.wait_for(anext(answers), ends_at - self.clock.monotonic())
                except StopAsyncIteration:
                    return
                except TimeoutError as error:
                    raise DeadlineExceeded("The stream is as old as this server allows; open it again.") from error
                yield answer


class GuardInterceptor(grpc.aio.ServerInterceptor):
    """Puts the guard before every handler of the server."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler[Any, Any] | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """The handler with the guard around it, in the same shape."""
        handler: Any = await continuation(handler_call_details)
        if handler is None:  # an unknown method: gRPC answers UNIMPLEMENTED
            return None
        method, guard = handler_call_details.method, self._guard
        streams_in, streams_out = handler.request_streaming, handler.response_streaming
        shape = f"{'stream' if streams_in else 'unary'}_{'stream' if streams_out else 'unary'}"
        behaviour = getattr(handler, shape)
        make = getattr(grpc, f"{shape}_rpc_method_handler")

        async def unary(request: Any, context: Context) -> Any:
            return await guard.unary(method, behaviour, request, context)

        async def stream(request: Any, context: Context) -> AsyncIterator[Any]:
            async for answer in guard.stream(method, behaviour, request, context):
                yield answer

        made: grpc.RpcMethodHandler[Any, Any] = make(
            stream if streams_out else unary, handler.request_deserializer, handler.response_serializer
        )
        return made

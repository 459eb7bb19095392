"""The gRPC server: one listener for the servicers of all services of the process."""

from __future__ import annotations

from collections.abc import Iterable

import grpc
from eunoe.v1 import admin_pb2, container_pb2, ingest_pb2, memory_pb2, search_pb2
from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.errors import ConfigurationError
from eunoe_stream.subscription import AddServicer
from eunoe_telemetry.metrics import Metrics
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from eunoe_gateway.application import Application
from eunoe_gateway.config import GatewaySettings
from eunoe_gateway.grpc_door.guard import Guard, GuardInterceptor

SEND_LIMIT = 64 * 1024 * 1024
"""Answers may be larger than requests: the text of a whole document is one message."""

SERVICES = tuple(
    service.full_name
    for module in (ingest_pb2, memory_pb2, search_pb2, container_pb2, admin_pb2)
    for service in module.DESCRIPTOR.services_by_name.values()
)


class GrpcServer:
    """A server that is told where to listen; made by `build_server`."""

    def __init__(self, server: grpc.aio.Server, servicer: health.aio.HealthServicer) -> None:
        self._server = server
        self._health = servicer

    async def start(self, address: str) -> int:
        """Listen on HOST:PORT (port 0 picks a free one) or unix:PATH; returns the port. Raises `ConfigurationError`."""
        try:
            port = self._server.add_insecure_port(address)
        except RuntimeError as error:
            raise ConfigurationError(f"cannot listen on {address}; is another program using it?") from error
        await self._server.start()
        for name in ("", *SERVICES):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        return port

    async def stop(self, grace_s: float) -> None:
        """Say NOT_SERVING, refuse new calls, give running ones that long. May be called twice."""
        await self._health.enter_graceful_shutdown()
        await self._server.stop(grace_s)


def build_server(
    application: Application,
    settings: GatewaySettings,
    *,
    servicers: Iterable[AddServicer],
    metrics: Metrics,
    clock: Clock,
    ids: Ids,
    is_loopback: bool,
) -> GrpcServer:
    """A server with these servicers behind the guard. `is_loopback`: only this machine can reach the listener."""
    guard = Guard(application, settings, metrics, clock, ids, is_loopback)
    server = grpc.aio.server(
        interceptors=(GuardInterceptor(guard),),
        maximum_concurrent_rpcs=settings.grpc_concurrent_calls,
        options=(
            ("grpc.max_receive_message_length", settings.grpc_max_message_bytes),
            ("grpc.max_send_message_length", SEND_LIMIT),
            ("grpc.so_reuseport", 0),  # a second server on the port must fail, not share it
        ),
    )
    for add in servicers:
        add(server)
    servicer = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    if settings.grpc_reflection:
        from grpc_reflection.v1alpha import reflection  # only where it is asked for

        reflection.enable_server_reflection((*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
    return GrpcServer(server, servicer)

"""The gateway's servicers, ready to be added to a server."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import grpc
from eunoe.v1 import admin_pb2_grpc, container_pb2_grpc, ingest_pb2_grpc, memory_pb2_grpc, search_pb2_grpc

from eunoe_gateway.application import Application
from eunoe_gateway.config import GatewaySettings
from eunoe_gateway.grpc_door.admin import AdminServicer
from eunoe_gateway.grpc_door.container import ContainerServicer
from eunoe_gateway.grpc_door.ingest import IngestServicer
from eunoe_gateway.grpc_door.memory import MemoryServicer
from eunoe_gateway.grpc_door.search import SearchServicer


def servicers(application: Application, settings: GatewaySettings) -> tuple[Callable[[grpc.aio.Server], None], ...]:
    """One adder per service of the gateway."""
    ingest = IngestServicer(application, chunk_idle_s=settings.grpc_chunk_idle_s)
    return (
        partial(ingest_pb2_grpc.add_IngestServiceServicer_to_server, ingest),
        partial(memory_pb2_grpc.add_MemoryServiceServicer_to_server, MemoryServicer(application)),
        partial(search_pb2_grpc.add_SearchServiceServicer_to_server, SearchServicer(application)),
        partial(container_pb2_grpc.add_ContainerServiceServicer_to_server, ContainerServicer(application)),
        partial(admin_pb2_grpc.add_AdminServiceServicer_to_server, AdminServicer(application)),
    )

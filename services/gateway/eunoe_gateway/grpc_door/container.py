"""`ContainerService`."""

from __future__ import annotations

from typing import Any

from eunoe.v1 import container_pb2, container_pb2_grpc

from eunoe_gateway.application import Application
from eunoe_gateway.grpc_door.caller import caller

# ruff: noqa: N802, ARG002 - names and signatures are gRPC's


class ContainerServicer(container_pb2_grpc.ContainerServiceServicer):
    """Translates; see `Application`."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def List(self, request: container_pb2.ContainerServiceListRequest, context: Any) -> container_pb2.ContainerServiceListResponse:
        """Containers by name."""
        return await self._application.list_containers(caller(), request)

    async def Delete(
        self, request: container_pb2.ContainerServiceDeleteRequest, context: Any
    ) -> container_pb2.ContainerServiceDeleteResponse:
        """Erase a container's documents."""
        return await self._application.delete_container(caller(), request)

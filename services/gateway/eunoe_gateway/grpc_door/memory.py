"""`MemoryService`."""

from __future__ import annotations

from typing import Any

from eunoe.v1 import memory_pb2, memory_pb2_grpc

from eunoe_gateway.application import Application
from eunoe_gateway.grpc_door.caller import caller

# ruff: noqa: N802, ARG002 - names and signatures are gRPC's


class MemoryServicer(memory_pb2_grpc.MemoryServiceServicer):
    """Translates; see `Application`."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def GetMemory(self, request: memory_pb2.GetMemoryRequest, context: Any) -> memory_pb2.GetMemoryResponse:
        """One memory."""
        return memory_pb2.GetMemoryResponse(memory=await self._application.get_memory(caller(), request.id))

    async def ListMemories(self, request: memory_pb2.ListMemoriesRequest, context: Any) -> memory_pb2.ListMemoriesResponse:
        """Many memories."""
        return await self._application.list_memories(caller(), request)

    async def ListRemovedMemories(
        self, request: memory_pb2.ListRemovedMemoriesRequest, context: Any
    ) -> memory_pb2.ListRemovedMemoriesResponse:
        """What callers removed."""
        return await self._application.list_removed_memories(caller(), request)

    async def UpdateMemory(self, request: memory_pb2.UpdateMemoryRequest, context: Any) -> memory_pb2.UpdateMemoryResponse:
        """Edit a memory."""
        return memory_pb2.UpdateMemoryResponse(memory=await self._application.update_memory(caller(), request))

    async def DeleteMemory(self, request: memory_pb2.DeleteMemoryRequest, context: Any) -> memory_pb2.DeleteMemoryResponse:
        """Remove a memory."""
        return await self._application.delete_memory(caller(), request.id)

    async def Related(self, request: memory_pb2.RelatedRequest, context: Any) -> memory_pb2.RelatedResponse:
        """Neighbours in the graph."""
        return await self._application.related(caller(), request)

    async def Profile(self, request: memory_pb2.ProfileRequest, context: Any) -> memory_pb2.ProfileResponse:
        """What a container is about."""
        return await self._application.profile(caller(), request)

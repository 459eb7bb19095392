"""`SearchService`."""

from __future__ import annotations

from typing import Any

from eunoe.v1 import search_pb2, search_pb2_grpc

from eunoe_gateway.application import Application
from eunoe_gateway.grpc_door.caller import caller

# ruff: noqa: N802, ARG002 - names and signatures are gRPC's


class SearchServicer(search_pb2_grpc.SearchServiceServicer):
    """Translates; see `Application`."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def Search(self, request: search_pb2.SearchRequest, context: Any) -> search_pb2.SearchResponse:
        """Ranked, cited hits."""
        return await self._application.search(caller(), request)

    async def Explain(self, request: search_pb2.ExplainRequest, context: Any) -> search_pb2.ExplainResponse:
        """Why a hit is where it is."""
        return await self._application.explain(caller(), request)

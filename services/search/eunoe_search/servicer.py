"""The internal gRPC door of the search service. It only translates; the caller, a gateway, has verified the tenant."""

from __future__ import annotations

from typing import Any, NoReturn, Protocol

import grpc
from eunoe.v1 import search_pb2, search_pb2_grpc
from eunoe_contracts.errors import EunoeError, InvalidField
from eunoe_contracts.events import HEADER_TENANT
from eunoe_contracts.tenancy import checked_tenant
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status


class Searcher(Protocol):
    """What is served."""

    async def search(self, tenant: str, request: search_pb2.SearchRequest) -> search_pb2.SearchResponse:
        """Ranked, cited hits."""
        ...

    async def explain(self, tenant: str, request: search_pb2.ExplainRequest) -> search_pb2.ExplainResponse:
        """Per-arm ranks and scores of one hit."""
        ...


class SearchServicer(search_pb2_grpc.SearchServiceServicer):
    """`eunoe.v1.SearchService`. The tenant stands in the call's metadata (`eunoe-tenant`), never in a message."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher

    async def Search(self, request: search_pb2.SearchRequest, context: Any) -> search_pb2.SearchResponse:  # noqa: N802 - gRPC's name
        """Ranked, cited hits."""
        try:
            return await self._searcher.search(_tenant(context), request)
        except EunoeError as error:
            await _abort(context, error)

    async def Explain(self, request: search_pb2.ExplainRequest, context: Any) -> search_pb2.ExplainResponse:  # noqa: N802 - gRPC's name
        """Per-arm ranks and scores of one hit."""
        try:
            return await self._searcher.explain(_tenant(context), request)
        except EunoeError as error:
            await _abort(context, error)


def add_to(server: grpc.aio.Server, searcher: Searcher) -> None:
    """Register the servicer."""
    search_pb2_grpc.add_SearchServiceServicer_to_server(SearchServicer(searcher), server)


def _tenant(context: Any) -> str:
    values = [value for name, value in context.invocation_metadata() or () if name == HEADER_TENANT]
    if len(values) != 1:
        raise InvalidField(f"{HEADER_TENANT}: exactly one is expected in the metadata of the call")
    return checked_tenant(str(values[0]))


async def _abort(context: Any, error: EunoeError) -> NoReturn:
    detail = any_pb2.Any()
    detail.Pack(error_details_pb2.ErrorInfo(reason=error.code, domain="eunoe"))
    status = status_pb2.Status(code=int(error.grpc_status), message=error.message, details=[detail])
    await context.abort_with_status(rpc_status.to_status(status))
    raise AssertionError("abort_with_status raises") from error

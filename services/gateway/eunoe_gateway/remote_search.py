"""The search service of another process: `Searcher` over gRPC."""

from __future__ import annotations

from dataclasses import dataclass

from eunoe.v1 import search_pb2
from eunoe_contracts.events import HEADER_TENANT
from eunoe_process.internal_client import Callee

SEARCH = "/eunoe.v1.SearchService/Search"
EXPLAIN = "/eunoe.v1.SearchService/Explain"


@dataclass(frozen=True, slots=True)
class RemoteSearcher:
    """What the search process raises is raised here as the same class; what it calls `degraded` stays. The tenant, which the token
    told, travels in the metadata.
    """

    searches: Callee

    async def search(self, tenant: str, request: search_pb2.SearchRequest) -> search_pb2.SearchResponse:
        """See `Searcher.search`. Raises also `StoreUnavailable`, `DeadlineExceeded`."""
        return await self.searches.call(SEARCH, request, search_pb2.SearchResponse, metadata=((HEADER_TENANT, tenant),))

    async def explain(self, tenant: str, request: search_pb2.ExplainRequest) -> search_pb2.ExplainResponse:
        """See `Searcher.explain`."""
        return await self.searches.call(EXPLAIN, request, search_pb2.ExplainResponse, metadata=((HEADER_TENANT, tenant),))

"""The search service in process: the use cases with their ports bound, measured."""

from __future__ import annotations

from dataclasses import dataclass

from eunoe.v1 import search_pb2
from eunoe_telemetry.metrics import Metrics

from eunoe_search import service
from eunoe_search.config import SearchSettings
from eunoe_search.ports import SearchPorts
from eunoe_search.query import Mode


@dataclass(frozen=True, slots=True)
class BoundSearcher:
    """What the gateway calls. Safe to use from many tasks."""

    settings: SearchSettings
    ports: SearchPorts
    metrics: Metrics

    async def search(self, tenant: str, request: search_pb2.SearchRequest) -> search_pb2.SearchResponse:
        """See `service.search`."""
        started = self.ports.clock.monotonic()
        response = await service.search(tenant, request, ports=self.ports, settings=self.settings)
        self.metrics.observe("search_duration_seconds", self.ports.clock.monotonic() - started, mode=request.mode or str(Mode.HYBRID))
        for arm in response.degraded:
            self.metrics.count("search_degraded_total", arm=arm)
        return response

    async def explain(self, tenant: str, request: search_pb2.ExplainRequest) -> search_pb2.ExplainResponse:
        """See `service.explain`."""
        return await service.explain(tenant, request, ports=self.ports, settings=self.settings)

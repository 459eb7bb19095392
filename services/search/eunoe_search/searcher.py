"""The search service in process: the use cases with their ports bound, measured."""

from __future__ import annotations

from dataclasses import dataclass

from eunoe.v1 import search_pb2
from eunoe_contracts.clock import Clock
from eunoe_models.embedding.port import EmbeddingModel
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.graph.port import GraphStore
from eunoe_stores.vectors.port import VectorIndex
from eunoe_telemetry.metrics import Metrics

from eunoe_search import service
from eunoe_search.config import SearchSettings
from eunoe_search.query import Mode
from eunoe_search.turn_signs import TurnReader


@dataclass(frozen=True, slots=True)
class BoundSearcher:
    """What the gateway calls. Safe to use from many tasks; `model` None means keyword search only."""

    settings: SearchSettings
    catalogue: Catalogue
    vectors: VectorIndex
    graph: GraphStore
    model: EmbeddingModel | None
    turns: TurnReader
    clock: Clock
    metrics: Metrics

    async def search(self, tenant: str, request: search_pb2.SearchRequest) -> search_pb2.SearchResponse:
        """See `service.search`."""
        started = self.clock.monotonic()
        response = await service.search(
            tenant,
            request,
            catalogue=self.catalogue,
            vectors=self.vectors,
            graph=self.graph,
            model=self.model,
            turns=self.turns,
            settings=self.settings,
            clock=self.clock,
        )
        self.metrics.observe("search_duration_seconds", self.clock.monotonic() - started, mode=request.mode or str(Mode.HYBRID))
        for arm in response.degraded:
            self.metrics.count("search_degraded_total", arm=arm)
        return response

    async def explain(self, tenant: str, request: search_pb2.ExplainRequest) -> search_pb2.ExplainResponse:
        """See `service.explain`."""
        return await service.explain(
            tenant,
            request,
            catalogue=self.catalogue,
            vectors=self.vectors,
            graph=self.graph,
            model=self.model,
            turns=self.turns,
            settings=self.settings,
            clock=self.clock,
        )

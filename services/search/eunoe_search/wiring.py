"""What the search service offers to a process."""

from __future__ import annotations

from functools import partial

from eunoe_contracts.clock import Clock
from eunoe_models.embedding.port import EmbeddingModel
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.graph.port import GraphStore
from eunoe_stores.vectors.port import VectorIndex
from eunoe_stream.subscription import Service
from eunoe_telemetry.metrics import Metrics

from eunoe_search.config import SearchSettings
from eunoe_search.ports import SearchPorts
from eunoe_search.searcher import BoundSearcher
from eunoe_search.servicer import add_to
from eunoe_search.turn_signs import TurnReader


def build_searcher(
    settings: SearchSettings,
    *,
    catalogue: Catalogue,
    vectors: VectorIndex,
    graph: GraphStore,
    model: EmbeddingModel | None,
    clock: Clock,
    metrics: Metrics,
) -> BoundSearcher:
    """The searcher for a gateway in the same process."""
    return BoundSearcher(settings, SearchPorts(catalogue, vectors, graph, model, TurnReader(catalogue), clock), metrics)


def build(
    settings: SearchSettings,
    *,
    catalogue: Catalogue,
    vectors: VectorIndex,
    graph: GraphStore,
    model: EmbeddingModel | None,
    clock: Clock,
    metrics: Metrics,
) -> Service:
    """The service for a process of its own: the gRPC servicer; search subscribes to nothing."""
    searcher = build_searcher(settings, catalogue=catalogue, vectors=vectors, graph=graph, model=model, clock=clock, metrics=metrics)
    return Service(name="search", servicers=(partial(add_to, searcher=searcher),))

"""What the use cases of search work with."""

from __future__ import annotations

from dataclasses import dataclass

from eunoe_contracts.clock import Clock
from eunoe_models.embedding.port import EmbeddingModel
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.graph.port import GraphStore
from eunoe_stores.vectors.port import VectorIndex

from eunoe_search.turn_signs import TurnReader


@dataclass(frozen=True, slots=True)
class SearchPorts:
    """Safe to use from many tasks of one event loop; `model` None means keyword search only."""

    catalogue: Catalogue
    vectors: VectorIndex
    graph: GraphStore
    model: EmbeddingModel | None
    turns: TurnReader
    clock: Clock

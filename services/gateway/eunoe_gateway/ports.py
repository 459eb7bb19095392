"""What the gateway is given by the process that composes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.stages import Stage
from eunoe_stores.blobs.port import BlobStore
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.graph.port import GraphStore
from eunoe_stores.vectors.port import VectorIndex
from eunoe_stream.log import Log
from eunoe_stream.subscription import Service
from eunoe_telemetry.metrics import Metrics

from eunoe_gateway.application import Searcher

Probe: TypeAlias = Callable[[], Awaitable[tuple[bool, str]]]
"""Readiness of one part: (ok, reason). A reason beside ok is a note, such as "BM25 only: no embedder is configured"."""


@dataclass(frozen=True, slots=True)
class StageInput:
    """Where a stage reads its work: topic and consumer group."""

    topic: str
    group: str


def stage_inputs(services: Iterable[Service]) -> Mapping[Stage, StageInput]:
    """The inputs of all stages that these services run."""
    return {
        each.stage: StageInput(each.topic, each.group) for service in services for each in service.subscriptions if each.stage is not None
    }


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class GatewayPorts:
    """Stores, log, search and time.

    `inputs` comes from `stage_inputs` and tells the sweeper where to look for waiting records. `with_vectors` is false in
    BM25-only mode. `has_space` is asked before new work is taken in; false refuses it with `StorageFull`.
    """

    catalogue: Catalogue
    blobs: BlobStore
    vectors: VectorIndex
    graph: GraphStore
    log: Log
    searcher: Searcher
    clock: Clock
    ids: Ids
    metrics: Metrics
    inputs: Mapping[Stage, StageInput]
    with_vectors: bool = True
    has_space: Callable[[], bool] = _always

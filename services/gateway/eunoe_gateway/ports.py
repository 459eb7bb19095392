"""What the gateway is given by the process that composes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.readers import StageInput
from eunoe_contracts.stages import Stage
from eunoe_process.readiness import Probe
from eunoe_stores.blobs.port import BlobStore
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.graph.port import GraphStore
from eunoe_stores.vectors.port import VectorIndex
from eunoe_stream.log import Log
from eunoe_stream.subscription import Service
from eunoe_telemetry.metrics import Metrics

from eunoe_gateway.application import Searcher

__all__ = ["GatewayPorts", "Probe", "StageInput", "stage_inputs"]


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

    `inputs` comes from `stage_inputs`, or is `readers.STAGE_INPUTS` where the other services are not at hand, and tells the sweeper
    where to look for waiting records. `with_vectors` is false in BM25-only mode. `has_space` is asked before new work is taken in;
    false refuses it with `StorageFull`. `alone` tells that no other gateway works on these stores.
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
    alone: bool = True

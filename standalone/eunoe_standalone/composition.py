"""The one place that puts all services together: embedded stores, six services, one runner."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import eunoe_embedder.wiring as embedder
import eunoe_extractor.wiring as extractor
import eunoe_gateway.wiring as gateway
import eunoe_graph.wiring as graph
import eunoe_llm_extractor.wiring as llm_extractor
import eunoe_search.wiring as search
from eunoe_contracts.clock import Clock, Ids
from eunoe_extractor.parser_pool import ParserPool
from eunoe_gateway.gateway import Gateway
from eunoe_gateway.ports import GatewayPorts, Probe, stage_inputs
from eunoe_models.artifacts import Loaded, load_embedder
from eunoe_process.work import at_work
from eunoe_stream.runner import Runner
from eunoe_stream.subscription import AddServicer, Background, Service
from eunoe_telemetry.clock import RandomIds, SystemClock
from eunoe_telemetry.metrics import Metrics

from eunoe_standalone.bare_rows import BareRows
from eunoe_standalone.data_directory import DataDirectory, open_data_directory
from eunoe_standalone.parts import PartSettings
from eunoe_standalone.probes import probes
from eunoe_standalone.retention import Retention
from eunoe_standalone.version import VERSION

ALONE = "one process"


@dataclass(frozen=True, slots=True)
class Composition:
    """A running pipeline without listeners."""

    application: Gateway
    stores: DataDirectory
    metrics: Metrics
    servicers: tuple[AddServicer, ...]
    loaded: Loaded
    clock: Clock
    ids: Ids


@asynccontextmanager
async def compose(
    data_dir: Path,
    settings: PartSettings,
    *,
    operator_secret: str,
    low_disk_bytes: int,
    drain_s: float,
    event_retention_s: float,
    clock: Clock | None = None,
    ids: Ids | None = None,
) -> AsyncIterator[Composition]:
    """Everything at work while the context lives; on leaving, work in flight gets `drain_s` seconds.
    Events leave the log `event_retention_s` seconds after they were published, if every group is done with them.

    Raises `DataDirectoryLocked`, `ConfigurationError`, `SchemaTooNew`, `ModelMismatch`.
    """
    clock, ids, metrics = clock or SystemClock(), ids or RandomIds(), Metrics()
    metrics.set("build_info", 1, version=VERSION)
    # Loading the model takes longest; it overlaps with opening the stores.
    loading = asyncio.create_task(asyncio.to_thread(load_embedder, settings.models, metrics=metrics))
    try:
        async with open_data_directory(data_dir, clock=clock, ids=ids) as stores, ParserPool(settings.extractor, metrics) as parsers:
            loaded = await loading
            await embedder.bind(stores.vectors, loaded.model)
            stages = _stages(settings, stores, parsers, loaded, clock)
            searcher = search.build_searcher(
                settings.search,
                catalogue=stores.catalogue,
                vectors=stores.vectors,
                graph=stores.graph,
                model=loaded.model,
                clock=clock,
                metrics=metrics,
            )
            ports = GatewayPorts(
                catalogue=stores.catalogue,
                blobs=stores.blobs,
                vectors=stores.vectors,
                graph=stores.graph,
                log=stores.log,
                searcher=searcher,
                clock=clock,
                ids=ids,
                metrics=metrics,
                inputs=stage_inputs(stages),
                with_vectors=loaded.model is not None,
                has_space=lambda: stores.free_bytes() >= low_disk_bytes,
            )
            late: dict[str, Probe] = {}
            application = gateway.build_application(settings.gateway, settings.auth, ports, probes=late, operator_secret=operator_secret)
            retention = Retention(stores.log, clock, event_retention_s)
            bare = BareRows(stores)
            beside = [Background("retention", retention.run)]
            if loaded.model is not None:
                beside.append(Background("rows without a vector", bare.count))
            services = (*stages, gateway.build(settings.gateway, ports, application), Service("stores", background=tuple(beside)))
            subscriptions = [each for service in services for each in service.subscriptions]
            runner = Runner(stores.log, subscriptions, ledger=stores.catalogue, clock=clock, ids=ids, metrics=metrics, instance=ids.new())
            # The probes tell the runner's health, and the runner needs the handlers of the application's service.
            limits = {"low_disk_bytes": low_disk_bytes, "queue_limit": settings.gateway.queue_limit}
            late.update(probes(stores, loaded, parsers, runner, bare, **limits))
            servicers = tuple(each for service in services for each in service.servicers)
            async with at_work(runner, services, finish=application.drain, drain_s=drain_s):
                yield Composition(application, stores, metrics, servicers, loaded, clock, ids)
    finally:
        with contextlib.suppress(Exception):
            await (await loading).close()


def _stages(settings: PartSettings, stores: DataDirectory, parsers: ParserPool, loaded: Loaded, clock: Clock) -> tuple[Service, ...]:
    """The four services that work on documents."""
    catalogue = stores.catalogue
    tokens = loaded.counter if loaded.model is not None else None
    return (
        extractor.build(
            settings.extractor,
            catalogue=catalogue,
            blobs=stores.blobs,
            parser=parsers.parser,
            tokens=tokens,
            clock=clock,
            instance=ALONE,  # the same at each start: no other process stands beside it, nor does an earlier one
        ),
        embedder.build(settings.embedder, catalogue=catalogue, vectors=stores.vectors, model=loaded.model),
        llm_extractor.build(settings.llm, catalogue=catalogue, clock=clock),
        graph.build(settings.graph, catalogue=catalogue, graph=stores.graph),
    )

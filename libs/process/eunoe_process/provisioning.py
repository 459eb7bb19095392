"""What must be there before the processes start: tables, bucket, collection, constraints, topics. May be run again at any time."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.readers import READERS

from eunoe_process.cluster import ADAPTERS, KAFKA, open_catalogue
from eunoe_process.settings_table import Owner, load
from eunoe_process.stores import StoreName


@dataclass(frozen=True, slots=True)
class Provided:
    """One part that is there now; `notes` are for the operator, `failures` what could not be made."""

    part: StoreName
    done: str
    notes: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


def cluster_owners() -> tuple[Owner, ...]:
    """The settings classes of all stores. Raises `ConfigurationError` naming what is to be installed."""
    return tuple(each.settings for each in ADAPTERS.values())


async def provide(clock: Clock, ids: Ids) -> AsyncIterator[Provided]:
    """Make what is missing, part by part, and leave the rest as it is. Raises `ConfigurationError`, `SchemaTooNew`, `StoreUnavailable`."""
    async with open_catalogue(load(ADAPTERS[StoreName.CATALOGUE].settings), clock, ids):
        yield Provided(StoreName.CATALOGUE, "its tables are those of this version")
    blobs = ADAPTERS[StoreName.BLOBS]
    async with blobs.open(load(blobs.settings).model_copy(update={"create_bucket": True}), clock, ids):
        yield Provided(StoreName.BLOBS, "its bucket is there")
    for name, done in ((StoreName.VECTORS, "its collection is there"), (StoreName.GRAPH, "its constraints and indexes are there")):
        async with ADAPTERS[name].open(load(ADAPTERS[name].settings), clock, ids):
            yield Provided(name, done)
    yield await _topics()


async def _topics() -> Provided:
    settings = load(KAFKA.settings)
    found = await importlib.import_module(KAFKA.package).provision(settings, [(each.topic, each.group) for each in READERS])
    return Provided(
        StoreName.LOG,
        f"{len(found.created)} topics made, {len(found.existing)} were there",
        tuple(str(each) for each in found.differences),
        tuple(f"{topic}: {reason}" for topic, reason in found.failed.items()),
    )

"""Readiness probes of the stores: one small question to each."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from eunoe_contracts import topics
from eunoe_contracts.tenancy import DEFAULT_TENANT

from eunoe_process.readiness import Probe
from eunoe_process.stores import StoreName, Stores

GROUP = "extract"
"""A group that every system has; the log is asked for its position."""


def store_probes(stores: Stores) -> Mapping[str, Probe]:
    """A probe per opened store."""

    async def catalogue() -> tuple[bool, str]:
        return True, f"{await stores.catalogue.count_open()} documents in work"

    async def blobs() -> tuple[bool, str]:
        await stores.blobs.tenants()
        return True, ""

    async def vectors() -> tuple[bool, str]:
        return True, f"model {await stores.vectors.bound_model() or 'none'}"

    async def graph() -> tuple[bool, str]:
        # A key that nobody has: without any, a store has nothing to ask its server for.
        await stores.graph.nodes(DEFAULT_TENANT, [UUID(int=0)])
        return True, ""

    async def log() -> tuple[bool, str]:
        await stores.log.lag(topics.DOCUMENT_ACCEPTED, GROUP)
        return True, ""

    every: Mapping[StoreName, Probe] = {
        StoreName.CATALOGUE: catalogue,
        StoreName.BLOBS: blobs,
        StoreName.VECTORS: vectors,
        StoreName.GRAPH: graph,
        StoreName.LOG: log,
    }
    return {name.value: probe for name, probe in every.items() if name in stores.opened}

"""Readiness probes of the one-process server: each part says for itself whether it can work, and why not."""

from __future__ import annotations

from collections.abc import Mapping

from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_extractor.parser_pool import ParserPool
from eunoe_models.artifacts import Loaded
from eunoe_process.readiness import Probe, troubles_of
from eunoe_stream.runner import Runner

from eunoe_standalone.bare_rows import BareRows, advice
from eunoe_standalone.data_directory import DataDirectory

MIB = 1024 * 1024


def probes(
    stores: DataDirectory, loaded: Loaded, parsers: ParserPool, runner: Runner, bare: BareRows, *, low_disk_bytes: int, queue_limit: int
) -> Mapping[str, Probe]:
    """Probes by name of the part. `queue_limit` is the number of open documents from which new ones are refused."""

    async def catalogue() -> tuple[bool, str]:
        await stores.catalogue.count_open()
        return True, ""

    async def queue() -> tuple[bool, str]:
        waiting = await stores.catalogue.count_open()
        if waiting >= queue_limit:
            return False, f"{waiting} documents in work, the limit: new work is refused, search goes on"
        return True, f"{waiting} documents in work"

    async def vectors() -> tuple[bool, str]:
        await stores.vectors.count(DEFAULT_TENANT)
        note = f"; {advice(bare.rows)}" if bare.rows else ""
        return True, f"model {await stores.vectors.bound_model() or 'none'}{note}"

    async def graph() -> tuple[bool, str]:
        await stores.graph.count(DEFAULT_TENANT)
        return True, ""

    async def disk() -> tuple[bool, str]:
        return space(stores.free_bytes(), low_disk_bytes)

    async def model() -> tuple[bool, str]:
        return True, loaded.model.profile.model_id if loaded.model else f"search by words only: {loaded.reason}"

    async def workers() -> tuple[bool, str]:
        troubles = troubles_of(runner.health())
        return not troubles, "; ".join(troubles) or f"{len(runner.health())} groups at work"

    return {
        "catalogue": catalogue,
        "queue": queue,
        "vector index": vectors,
        "graph": graph,
        "disk": disk,
        "embedding model": model,
        "parsers": parsers.probe,
        "workers": workers,
    }


def space(free: int, low: int) -> tuple[bool, str]:
    """Whether there is room for new work."""
    if free < low:
        return False, f"only {free // MIB} MiB free: new work is refused, search goes on"
    return True, f"{free // MIB} MiB free"

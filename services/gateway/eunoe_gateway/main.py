"""Process entry: `eunoe-gateway`."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.readers import STAGE_INPUTS
from eunoe_models.config import ModelSettings
from eunoe_process.internal_client import calling
from eunoe_process.listening import Address
from eunoe_process.program import Assembly, Program, Surroundings
from eunoe_process.run import run_process
from eunoe_process.stores import StoreName
from eunoe_process.version import running_version
from eunoe_stream.subscription import AddServicer

from eunoe_gateway.config import AuthSettings, DoorSettings, GatewaySettings
from eunoe_gateway.doors import DoorParts, addresses_of, grpc_door, http_door, require_token_beyond_loopback
from eunoe_gateway.ports import GatewayPorts
from eunoe_gateway.remote_search import RemoteSearcher
from eunoe_gateway.wiring import build, build_application


@asynccontextmanager
async def assemble(at: Surroundings) -> AsyncIterator[Assembly]:
    """Both public doors before the stores, and search by the search processes, which need not be there yet."""
    settings, doors, auth, internal = at.setting(GatewaySettings), at.setting(DoorSettings), at.setting(AuthSettings), at.internal
    await require_token_beyond_loopback(at.stores.catalogue, auth, *addresses_of(doors))
    async with calling(
        "search",
        internal.search,
        setting="EUNOE_INTERNAL__SEARCH",
        secret=internal.secret.get_secret_value(),
        deadline_s=internal.search_deadline_s,
        away=StoreUnavailable,
    ) as searches:
        at.probes["search"] = searches.probe
        ports = _ports(at, RemoteSearcher(searches))
        application = build_application(settings, auth, ports, probes=at.probes)
        parts = DoorParts(application, settings, at.metrics, at.clock, at.ids, running_version())

        @asynccontextmanager
        async def opened(servicers: tuple[AddServicer, ...]) -> AsyncIterator[Mapping[str, str]]:
            http, grpc = addresses_of(doors)
            async with (
                http_door(parts, doors, http) as http,
                grpc_door(parts, servicers, str(grpc), is_loopback=grpc.is_loopback) as port,
            ):
                yield {"http": f"http://{http}", "grpc": str(Address(grpc.host, port))}

        yield Assembly((build(settings, ports, application),), doors=opened, finish=application.drain)


def _ports(at: Surroundings, searcher: RemoteSearcher) -> GatewayPorts:
    stores = at.stores
    return GatewayPorts(
        catalogue=stores.catalogue,
        blobs=stores.blobs,
        vectors=stores.vectors,
        graph=stores.graph,
        log=stores.log,
        searcher=searcher,
        clock=at.clock,
        ids=at.ids,
        metrics=at.metrics,
        inputs=STAGE_INPUTS,
        with_vectors=at.setting(ModelSettings).profile != "none",
        alone=False,
    )


PROGRAM = Program(
    name="eunoe-gateway",
    about="The doors: takes content in, tells where it stands, ends it, erases it.",
    admin_port=9101,
    stores=frozenset(StoreName),
    settings=(GatewaySettings, DoorSettings, AuthSettings, ModelSettings),
    calls=lambda internal: internal.search,
    assemble=assemble,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until told to stop; returns the exit code."""
    return run_process(PROGRAM, arguments)


if __name__ == "__main__":
    sys.exit(main())

"""Process entry: `eunoe-search`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from eunoe_contracts.errors import ModelUnavailable
from eunoe_models.artifacts import profile_of
from eunoe_models.config import ModelSettings
from eunoe_process.config import SEARCH_PORT
from eunoe_process.internal_client import calling
from eunoe_process.program import Assembly, Program, Surroundings
from eunoe_process.run import run_process
from eunoe_process.stores import StoreName

from eunoe_search.config import SearchSettings
from eunoe_search.remote_embedder import RemoteEmbedder
from eunoe_search.wiring import build


@asynccontextmanager
async def assemble(at: Surroundings) -> AsyncIterator[Assembly]:
    """Serve searches; the embedder need not be there yet, nor ever, where nothing was indexed with a model. Raises `ModelMissing`."""
    settings, internal = at.setting(SearchSettings), at.internal
    profile = await asyncio.to_thread(profile_of, at.setting(ModelSettings))
    async with AsyncExitStack() as stack:
        model = None
        if profile is not None:
            embedders = await stack.enter_async_context(
                calling(
                    "embedder",
                    internal.embedder,
                    setting="EUNOE_INTERNAL__EMBEDDER",
                    secret=internal.secret.get_secret_value(),
                    deadline_s=internal.embed_deadline_s,
                    away=ModelUnavailable,
                )
            )
            model = RemoteEmbedder(profile, embedders)
            at.probes["embedder"] = embedders.probe
        service = build(
            settings,
            catalogue=at.stores.catalogue,
            vectors=at.stores.vectors,
            graph=at.stores.graph,
            model=model,
            clock=at.clock,
            metrics=at.metrics,
        )
        yield Assembly((service,))


PROGRAM = Program(
    name="eunoe-search",
    about="Queries to ranked, cited answers.",
    admin_port=9106,
    grpc_port=SEARCH_PORT,
    stores=frozenset({StoreName.CATALOGUE, StoreName.VECTORS, StoreName.GRAPH}),
    settings=(SearchSettings, ModelSettings),
    calls=lambda internal: internal.embedder,
    assemble=assemble,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until told to stop; returns the exit code."""
    return run_process(PROGRAM, arguments)


if __name__ == "__main__":
    sys.exit(main())

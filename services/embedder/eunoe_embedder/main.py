"""Process entry: `eunoe-embedder`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from eunoe_models.artifacts import require_embedder
from eunoe_models.config import ModelSettings
from eunoe_process.config import EMBEDDER_PORT
from eunoe_process.program import Assembly, Program, Surroundings
from eunoe_process.run import run_process
from eunoe_process.stores import StoreName

from eunoe_embedder.config import EmbedderSettings
from eunoe_embedder.wiring import bind, build


@asynccontextmanager
async def assemble(at: Surroundings) -> AsyncIterator[Assembly]:
    """Load the model, tie the index to it, subscribe. Raises `ModelMissing`, `ModelMismatch`."""
    loaded = await asyncio.to_thread(require_embedder, at.setting(ModelSettings), metrics=at.metrics)

    async def model() -> tuple[bool, str]:
        return True, loaded.model.profile.model_id if loaded.model else f"search by words only: {loaded.reason}"

    try:
        await bind(at.stores.vectors, loaded.model)
        at.probes["embedding model"] = model
        service = build(at.setting(EmbedderSettings), catalogue=at.stores.catalogue, vectors=at.stores.vectors, model=loaded.model)
        yield Assembly((service,))
    finally:
        await loaded.close()


PROGRAM = Program(
    name="eunoe-embedder",
    about="Passages and memories to vectors; answers other processes' Embed calls.",
    admin_port=9103,
    grpc_port=EMBEDDER_PORT,
    stores=frozenset({StoreName.CATALOGUE, StoreName.VECTORS, StoreName.LOG}),
    settings=(EmbedderSettings, ModelSettings),
    assemble=assemble,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until told to stop; returns the exit code."""
    return run_process(PROGRAM, arguments)


if __name__ == "__main__":
    sys.exit(main())

"""Process entry: `eunoe-graph`."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from eunoe_process.program import Assembly, Program, Surroundings
from eunoe_process.run import run_process
from eunoe_process.stores import StoreName

from eunoe_graph.config import GraphSettings
from eunoe_graph.wiring import build


@asynccontextmanager
async def assemble(at: Surroundings) -> AsyncIterator[Assembly]:
    """Subscribe."""
    yield Assembly((build(at.setting(GraphSettings), catalogue=at.stores.catalogue, graph=at.stores.graph),))


PROGRAM = Program(
    name="eunoe-graph",
    about="Structure, mentions and relations of what was read.",
    admin_port=9105,
    stores=frozenset({StoreName.CATALOGUE, StoreName.GRAPH, StoreName.LOG}),
    settings=(GraphSettings,),
    assemble=assemble,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until told to stop; returns the exit code."""
    return run_process(PROGRAM, arguments)


if __name__ == "__main__":
    sys.exit(main())

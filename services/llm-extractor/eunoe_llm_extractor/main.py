"""Process entry: `eunoe-llm-extractor`."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from eunoe_process.program import Assembly, Program, Surroundings
from eunoe_process.run import run_process
from eunoe_process.stores import StoreName

from eunoe_llm_extractor.config import LlmSettings
from eunoe_llm_extractor.wiring import build


@asynccontextmanager
async def assemble(at: Surroundings) -> AsyncIterator[Assembly]:
    """Subscribe."""
    yield Assembly((build(at.setting(LlmSettings), catalogue=at.stores.catalogue, clock=at.clock),))


PROGRAM = Program(
    name="eunoe-llm-extractor",
    about="Passages to memories and entities.",
    admin_port=9104,
    stores=frozenset({StoreName.CATALOGUE, StoreName.LOG}),
    settings=(LlmSettings,),
    assemble=assemble,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until told to stop; returns the exit code."""
    return run_process(PROGRAM, arguments)


if __name__ == "__main__":
    sys.exit(main())

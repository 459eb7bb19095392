"""Process entry: `eunoe-extractor`, in the role `parse` or `fetch`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from eunoe_models.artifacts import load_counter
from eunoe_models.config import ModelSettings
from eunoe_process.program import Assembly, Program, Surroundings
from eunoe_process.run import run_process
from eunoe_process.stores import StoreName

from eunoe_extractor.config import ExtractorSettings
from eunoe_extractor.parser_pool import ParserPool
from eunoe_extractor.wiring import build


@asynccontextmanager
async def assemble(at: Surroundings) -> AsyncIterator[Assembly]:
    """Load the tokenizer, start the parser processes, subscribe. Raises `ModelMissing`, `ConfigurationError`."""
    settings = at.setting(ExtractorSettings)
    tokens = await asyncio.to_thread(load_counter, at.setting(ModelSettings))
    async with ParserPool(settings, at.metrics) as parsers:
        at.probes["parsers"] = parsers.probe
        stores = at.stores
        yield Assembly(
            (
                build(
                    settings,
                    catalogue=stores.catalogue,
                    blobs=stores.blobs,
                    parser=parsers.parser,
                    tokens=tokens,
                    clock=at.clock,
                    instance=at.ids.new(),
                ),
            )
        )


PARSE = Program(
    name="eunoe-extractor",
    about="Bytes to passages.",
    admin_port=9102,
    stores=frozenset({StoreName.CATALOGUE, StoreName.BLOBS, StoreName.LOG}),
    settings=(ExtractorSettings, ModelSettings),
    assemble=assemble,
)
FETCH = replace(
    PARSE,
    about="Web addresses to bytes.",
    admin_port=9107,
    refusal="fetching web addresses is not part of this version: the gateway refuses them, so there is nothing to do in the role fetch",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until told to stop; returns the exit code."""
    return run_process({"parse": PARSE, "fetch": FETCH}, arguments)


if __name__ == "__main__":
    sys.exit(main())

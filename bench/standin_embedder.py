"""The embedder's process with a stand-in for the model: one text at a time, each in STANDIN_LATENCY_S seconds, no processor time.
How many it has done so far is written to the file STANDIN_COUNT, when that is given.

With it two cores can show how the rest scales: what limits is the stand-in's rate, known exactly, and not the machine.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from eunoe_embedder.config import EmbedderSettings
from eunoe_embedder.main import PROGRAM
from eunoe_embedder.wiring import bind, build
from eunoe_models.embedding.port import Lane, ModelProfile, Role, Vectors
from eunoe_models.embedding.profiles import PROFILES
from eunoe_models.testing import HashingEmbedder
from eunoe_process.program import Assembly, Surroundings
from eunoe_process.run import run_process


class FixedRate:
    """An `EmbeddingModel` that computes for a fixed time per text. Queries do not wait behind passages, as with the real one."""

    def __init__(self, profile: ModelProfile, latency_s: float, counted: Path | None) -> None:
        self.profile = profile
        self._hashing = HashingEmbedder(dimensions=profile.dimensions, window=profile.window, model_id=profile.model_id)
        self._latency_s = latency_s
        self._counted = counted
        self.passages_computed = 0
        self._one = asyncio.Lock()

    async def embed(self, texts: Sequence[str], *, lane: Lane = Lane.BULK, role: Role = Role.PASSAGE) -> Vectors:
        """As the port says."""
        if lane is Lane.BULK:
            async with self._one:
                await asyncio.sleep(self._latency_s * len(texts))
            self.passages_computed += len(texts)
            if self._counted is not None:
                self._counted.write_text(str(self.passages_computed), encoding="ascii")
        return await self._hashing.embed(texts, lane=lane, role=role)


@asynccontextmanager
async def assemble(at: Surroundings) -> AsyncIterator[Assembly]:
    """As the embedder's, with the stand-in."""
    counted = os.environ.get("STANDIN_COUNT")
    model = FixedRate(PROFILES["minilm"], float(os.environ["STANDIN_LATENCY_S"]), Path(counted) if counted else None)
    await bind(at.stores.vectors, model)
    yield Assembly((build(at.setting(EmbedderSettings), catalogue=at.stores.catalogue, vectors=at.stores.vectors, model=model),))


if __name__ == "__main__":
    sys.exit(run_process(replace(PROGRAM, assemble=assemble)))

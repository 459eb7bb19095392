"""Texts to vectors to index rows, in batches, so that a long document neither fills memory nor starts anew after a failure."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np
from eunoe_contracts.content import Unit
from eunoe_contracts.identity import row_key
from eunoe_models.embedding.port import EmbeddingModel, Vectors
from eunoe_stores.catalogue.rows import DocumentRow, MemoryRow
from eunoe_stores.vectors.port import VectorIndex

from eunoe_embedder.rows import memory_row, unit_row

BATCH = 64
"""Passages that are computed and written together: few enough that a slow and crowded model does several within a deadline."""


async def index_units(
    document: DocumentRow, units: Sequence[Unit], *, vectors: VectorIndex, model: EmbeddingModel | None, again: bool = False
) -> None:
    """Write the rows that are not there yet, so that a try that ran into its deadline is continued; with `again` all of them."""
    for start in range(0, len(units), BATCH):
        batch = units[start : start + BATCH]
        if not again:
            keys = [row_key(unit.id, unit.generation) for unit in batch]
            written = await _written(document.tenant, keys, vectors=vectors, model=model)
            batch = [unit for unit in batch if row_key(unit.id, unit.generation) not in written]
        if batch:
            made = await _vectors([text_of(unit) for unit in batch], model)
            rows = [unit_row(unit, document, vector) for unit, vector in zip(batch, made, strict=True)]
            await vectors.upsert(document.tenant, rows)


async def index_memories(
    document: DocumentRow, memories: Sequence[MemoryRow], *, vectors: VectorIndex, model: EmbeddingModel | None
) -> None:
    """Write the rows of memories, always: what a caller changed must reach the row."""
    for start in range(0, len(memories), BATCH):
        batch = memories[start : start + BATCH]
        made = await _vectors([memory.text for memory in batch], model)
        rows = [memory_row(memory, document, vector) for memory, vector in zip(batch, made, strict=True)]
        await vectors.upsert(document.tenant, rows)


def text_of(unit: Unit) -> str:
    """What of a unit is embedded."""
    return unit.context or unit.text


async def _vectors(texts: Sequence[str], model: EmbeddingModel | None) -> Sequence[Vectors | None]:
    return [None] * len(texts) if model is None else list(await model.embed(texts))


async def _written(tenant: str, keys: Sequence[UUID], *, vectors: VectorIndex, model: EmbeddingModel | None) -> frozenset[UUID]:
    """Keys whose rows are as this model would write them: with a vector exactly when there is a model."""
    if model is None:
        return frozenset(await vectors.refs(tenant, keys))
    # The port tells which rows have a vector by comparing them with one; which one does not matter.
    probe = np.zeros(model.profile.dimensions, np.float32)
    probe[0] = 1
    return frozenset(await vectors.cosines(tenant, probe, keys))

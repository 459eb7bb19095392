"""Indexing a document again after a repeated post added tags or metadata to it."""

from __future__ import annotations

from typing import Protocol

from eunoe_contracts.content import Unit
from eunoe_models.embedding.port import EmbeddingModel
from eunoe_stores.catalogue.port import DocumentCatalogue, LedgerCatalogue, MemoryCatalogue, UnitCatalogue
from eunoe_stores.vectors.port import VectorIndex

from eunoe_embedder.indexing import index_memories, index_units
from eunoe_embedder.removal import remove_generation


class EmbedCatalogue(DocumentCatalogue, LedgerCatalogue, UnitCatalogue, MemoryCatalogue, Protocol):
    """The parts of the catalogue that the embedder uses."""


async def index_document_again(
    tenant: str, root: Unit, *, catalogue: EmbedCatalogue, vectors: VectorIndex, model: EmbeddingModel | None
) -> None:
    """Write all rows of the root's generation anew. Nothing is left of a generation that was fenced meanwhile. May run twice."""
    row = await catalogue.document(tenant, root.document)
    if row is None or not await catalogue.may_write(tenant, root.document, root.generation):
        return
    units = [unit for unit in await catalogue.units(tenant, row.id, root.generation) if unit.indexed]
    memories = [memory for memory, _, _ in await catalogue.memories_of(tenant, row.id, root.generation)]
    await index_units(row, units, vectors=vectors, model=model, again=True)
    await index_memories(row, memories, vectors=vectors, model=model)
    if not await catalogue.may_write(tenant, root.document, root.generation):
        ids = [memory.id for memory in memories]
        await remove_generation(tenant, root.document, root.generation, ids, catalogue=catalogue, vectors=vectors)

"""Removal of rows from the index. Everything may run twice, and goes on where a crash left it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from eunoe_contracts.identity import row_key
from eunoe_models.embedding.port import EmbeddingModel
from eunoe_stores.catalogue.port import DocumentCatalogue, MemoryCatalogue, UnitCatalogue
from eunoe_stores.catalogue.rows import MemoryRow
from eunoe_stores.vectors.port import VectorIndex

from eunoe_embedder.indexing import index_memories


class RemovalCatalogue(DocumentCatalogue, UnitCatalogue, MemoryCatalogue, Protocol):
    """The parts of the catalogue that are used here."""


async def remove_document(
    tenant: str,
    document: UUID,
    generation: int,
    *,
    catalogue: RemovalCatalogue,
    vectors: VectorIndex,
    model: EmbeddingModel | None,
) -> None:
    """Rows of that and older generations, and of the memories that go with the document.

    The catalogue names the memories without a source only once, so rows go first: a crash in between leaves none behind.
    """
    await vectors.delete_document(tenant, document, through_generation=generation)
    alone: dict[UUID, MemoryRow] = {}
    for each in range(1, generation + 1):
        for memory, _, _ in await catalogue.memories_of(tenant, document, each):
            if set(memory.sources) <= {document}:
                alone[memory.id] = memory
    await vectors.delete_rows(tenant, [row_key(memory.id, memory.epoch) for memory in alone.values()])
    orphans = await catalogue.drop_sources(tenant, document, through_generation=generation)
    await vectors.delete_rows(tenant, [row_key(orphan.id, orphan.epoch) for orphan in orphans])
    await _restore([memory for memory in alone if memory not in {orphan.id for orphan in orphans}], tenant, catalogue, vectors, model)


async def remove_generation(
    tenant: str, document: UUID, generation: int, memories: Sequence[UUID], *, catalogue: RemovalCatalogue, vectors: VectorIndex
) -> None:
    """Rows that one generation wrote; what older ones left stays readable unless the document is erased."""
    if await catalogue.document(tenant, document) is None:
        await vectors.delete_document(tenant, document, through_generation=generation)
    else:
        units = await catalogue.units(tenant, document, generation)
        await vectors.delete_rows(tenant, [row_key(unit.id, generation) for unit in units])
    known = await catalogue.memories(tenant, memories)
    for memory in memories:
        row = known.get(memory)
        if row is None:
            await remove_memory(tenant, memory, vectors=vectors)
        elif set(row.sources) <= {document}:
            await vectors.delete_rows(tenant, [row_key(memory, row.epoch)])


async def remove_memory(tenant: str, memory: UUID, *, vectors: VectorIndex) -> None:
    """Every row of a memory that the catalogue no longer knows."""
    keys = (await vectors.keys_of(tenant, [memory])).get(memory, ())
    await vectors.delete_rows(tenant, list(keys))


async def _restore(
    memories: Sequence[UUID], tenant: str, catalogue: RemovalCatalogue, vectors: VectorIndex, model: EmbeddingModel | None
) -> None:
    """Index again what another document came to support between our look and the catalogue's answer."""
    for row in (await catalogue.memories(tenant, memories)).values() if memories else ():
        documents = await catalogue.documents_by_id(tenant, row.sources)
        if documents:
            await index_memories(next(iter(documents.values())), [row], vectors=vectors, model=model)

"""Removal of rows from the index. Everything may run twice, and goes on where a crash left it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from eunoe_contracts.identity import row_key
from eunoe_contracts.stages import DocumentStatus
from eunoe_models.embedding.port import EmbeddingModel
from eunoe_stores.catalogue.port import DocumentCatalogue, MemoryCatalogue, UnitCatalogue
from eunoe_stores.catalogue.rows import DocumentRow
from eunoe_stores.vectors.port import VectorIndex

from eunoe_embedder.indexing import index_memories

WITHDRAWN = frozenset({DocumentStatus.FAILED, DocumentStatus.CANCELLED})


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
    """Rows of that and older generations, and of the memories that go with the document; those that stay are indexed again, since
    their rows may carry the document's title and metadata. What a newer generation says again is that one's to write.

    The catalogue names the memories until their sources are dropped, which is for whoever sees all stores empty of them.
    """
    await vectors.delete_document(tenant, document, through_generation=generation)
    stale = await catalogue.bury_memories(tenant, document, through_generation=generation)
    await vectors.delete_rows(tenant, [row_key(each.id, each.epoch) for each in stale])
    newer = await _said_again(tenant, document, generation, catalogue)
    said = [memory for each in range(1, generation + 1) for memory, _, _ in await catalogue.memories_of(tenant, document, each)]
    shared = [memory for memory in said if memory.id not in newer]
    others = list({source for memory in shared for source in memory.sources} - {document})
    standing = await _standing(tenant, others, catalogue)
    for memory in {each.id: each for each in shared}.values():
        holder = next((standing[source] for source in memory.sources if source in standing), None)
        if holder is not None:
            await index_memories(holder, [memory], vectors=vectors, model=model)
    # Whoever ended meanwhile took its rows away, perhaps before they were written here.
    left = await _standing(tenant, others, catalogue)
    gone = [each for each in shared if not left.keys() & set(each.sources)]
    await vectors.delete_rows(tenant, [row_key(each.id, each.epoch) for each in gone])


async def _standing(tenant: str, documents: Sequence[UUID], catalogue: DocumentCatalogue) -> Mapping[UUID, DocumentRow]:
    """Those of the documents that are found: not erased, failed or cancelled."""
    found = await catalogue.documents_by_id(tenant, documents)
    return {id_: row for id_, row in found.items() if row.status not in WITHDRAWN}


async def remove_generation(
    tenant: str, document: UUID, generation: int, memories: Sequence[UUID], *, catalogue: RemovalCatalogue, vectors: VectorIndex
) -> None:
    """Rows that one generation wrote; what older ones left stays readable unless the document is erased, and what a newer one says
    again is that one's.
    """
    if await catalogue.document(tenant, document) is None:
        await vectors.delete_document(tenant, document, through_generation=generation)
    else:
        units = await catalogue.units(tenant, document, generation)
        await vectors.delete_rows(tenant, [row_key(unit.id, generation) for unit in units])
    known = await catalogue.memories(tenant, memories)
    newer = await _said_again(tenant, document, generation, catalogue) if memories else frozenset()
    for memory in memories:
        row = known.get(memory)
        if row is None:
            await remove_memory(tenant, memory, vectors=vectors)
        elif memory not in newer and set(row.sources) <= {document}:
            await vectors.delete_rows(tenant, [row_key(memory, row.epoch)])


async def _said_again(tenant: str, document: UUID, generation: int, catalogue: RemovalCatalogue) -> frozenset[UUID]:
    """Memories of a generation of the document that came after that one."""
    current = await catalogue.document(tenant, document)
    if current is None or current.generation <= generation:
        return frozenset()
    return frozenset(memory.id for memory, _, _ in await catalogue.memories_of(tenant, document, current.generation))


async def remove_memory(tenant: str, memory: UUID, *, vectors: VectorIndex) -> None:
    """Every row of a memory that the catalogue no longer knows."""
    keys = (await vectors.keys_of(tenant, [memory])).get(memory, ())
    await vectors.delete_rows(tenant, list(keys))

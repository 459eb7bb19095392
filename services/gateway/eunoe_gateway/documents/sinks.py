"""The stores that hold what was made of a document, and its removal from all of them. Every function may be called twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from eunoe_contracts.identity import row_key
from eunoe_contracts.stages import DocumentStatus
from eunoe_stores.blobs.port import BlobStore
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.catalogue.rows import DocumentRow, OrphanedMemory
from eunoe_stores.graph.port import GraphStore
from eunoe_stores.vectors.port import VectorIndex

WITHDRAWN = frozenset({DocumentStatus.FAILED, DocumentStatus.CANCELLED})


@dataclass(frozen=True, slots=True)
class Sinks:
    """Catalogue, projections and blobs of one server."""

    catalogue: Catalogue
    vectors: VectorIndex
    graph: GraphStore
    blobs: BlobStore


async def remove_generations(tenant: str, document: UUID, *, through_generation: int, sinks: Sinks) -> int:
    """Remove everything made of these generations: projections first, then rows, blobs last. Returns how much was there.

    A caller that gets 0 has seen every store empty of them.
    """
    if through_generation < 1:
        return 0
    removed = await sinks.vectors.delete_document(tenant, document, through_generation=through_generation)
    removed += await sinks.graph.delete_document(tenant, document, through_generation=through_generation)
    stale = await sinks.catalogue.bury_memories(tenant, document, through_generation=through_generation)
    removed += await remove_orphans(tenant, stale, sinks=sinks)
    orphans = await sinks.catalogue.drop_sources(tenant, document, through_generation=through_generation)
    removed += len(orphans) + await remove_orphans(tenant, orphans, sinks=sinks)
    removed += await sinks.catalogue.delete_units(tenant, document, through_generation=through_generation)
    return removed + await sinks.blobs.delete(tenant, document, through_generation=through_generation)


async def remove_contents(tenant: str, document: UUID, *, through_generation: int, sinks: Sinks) -> None:
    """Remove what can be removed without knowing what else rests on it: index rows of passages, units, blobs.

    Memories, sessions and their neighbours in the graph are untied by the stages that made them, which look before they remove.
    """
    await sinks.vectors.delete_document(tenant, document, through_generation=through_generation)
    await sinks.catalogue.delete_units(tenant, document, through_generation=through_generation)
    await sinks.blobs.delete(tenant, document, through_generation=through_generation)


async def remove_orphans(tenant: str, orphans: Sequence[OrphanedMemory], *, sinks: Sinks) -> int:
    """Remove the projection rows of memories that lost their last source."""
    keys = [row_key(each.id, each.epoch) for each in orphans]
    if not keys:
        return 0
    return await sinks.vectors.delete_rows(tenant, keys) + await sinks.graph.delete_nodes(tenant, keys)


async def withdraw(row: DocumentRow, *, sinks: Sinks) -> None:
    """Take a failed or cancelled generation out of the projections, so that nothing of it is found.

    Its units and blob stay for a replay; rows of older generations, which may still be readable, are not touched.
    """
    tenant, generation = row.tenant, row.generation
    if generation == 1:
        await sinks.vectors.delete_document(tenant, row.id, through_generation=1)
        await sinks.graph.delete_document(tenant, row.id, through_generation=1)
    units = await sinks.catalogue.units(tenant, row.id, generation)
    keys = [row_key(row.id, generation), *(row_key(each.id, generation) for each in units)]
    memories = [memory for memory, _, _ in await sinks.catalogue.memories_of(tenant, row.id, generation)]
    sources = await sinks.catalogue.documents_by_id(tenant, list({source for memory in memories for source in memory.sources}))
    standing = {each.id for each in sources.values() if each.id != row.id and each.status not in WITHDRAWN}
    keys += [row_key(memory.id, memory.epoch) for memory in memories if not standing.intersection(memory.sources)]
    await sinks.vectors.delete_rows(tenant, keys)
    await sinks.graph.delete_nodes(tenant, keys)

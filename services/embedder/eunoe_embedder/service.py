"""Use cases of the embedder: index passages and memories, follow edits, forget. Everything may run twice."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import MalformedEvent
from eunoe_contracts.events import Event, document_event, memory_changed_event
from eunoe_contracts.identity import root_id
from eunoe_models.embedding.port import EmbeddingModel
from eunoe_stores.catalogue.port import DocumentCatalogue
from eunoe_stores.catalogue.rows import DocumentRow, MemoryRow
from eunoe_stores.vectors.port import VectorIndex

from eunoe_embedder.indexing import index_memories, index_units
from eunoe_embedder.merging import EmbedCatalogue, index_document_again
from eunoe_embedder.removal import remove_document, remove_generation, remove_memory


async def embed(event: Event, *, catalogue: EmbedCatalogue, vectors: VectorIndex, model: EmbeddingModel | None) -> Sequence[Event]:
    """Index the passages and the root of a document; without a model for search by words only. Says so when its tags or metadata
    changed meanwhile.

    Nothing happens for a document that is erased or has a newer generation. Raises `ModelUnavailable`, `StoreUnavailable`.
    """
    row = await _current(event, catalogue)
    if row is not None:
        units = [unit for unit in await catalogue.units(row.tenant, row.id, row.generation) if unit.indexed]
        await index_units(row, units, vectors=vectors, model=model)
        now = await _current(event, catalogue)
        if now is not None and (now.tags, now.metadata) != (row.tags, row.metadata):
            # A repeated post was merged meanwhile, and its own event may have come before the last of these rows.
            return [memory_changed_event(now.tenant, now.container, root_id(now.id), at=now.updated_at, trace=event.trace, salt="embed")]
    return []


async def embed_memories(event: Event, *, catalogue: EmbedCatalogue, vectors: VectorIndex, model: EmbeddingModel | None) -> Sequence[Event]:
    """Index a document's memories and say so, also when there are none: the graph waits for it."""
    body = event.body
    if not isinstance(body, events_pb2.MemoriesProposed):
        raise MalformedEvent
    memories: list[MemoryRow] = []
    row = await _current(event, catalogue)
    if row is not None and body.memory_ids:
        found = await catalogue.memories(event.tenant, _ids(body.memory_ids))
        memories = list(found.values())
        await index_memories(row, memories, vectors=vectors, model=model)
    done = events_pb2.MemoriesEmbedded(
        tenant=body.tenant,
        document_id=body.document_id,
        generation=body.generation,
        container=body.container,
        memory_ids=sorted(str(memory.id) for memory in memories),
    )
    return [document_event(topics.MEMORIES_EMBEDDED, done, trace=event.trace, salt=_salt(event))]


async def follow_change(event: Event, *, catalogue: EmbedCatalogue, vectors: VectorIndex, model: EmbeddingModel | None) -> Sequence[Event]:
    """Bring the row of an edited memory up to date, or remove that of a deleted one. What counts is the catalogue's state now.

    The root of a document stands for all of it: a repeated post added tags or metadata, which every row carries.
    """
    body = event.body
    if not isinstance(body, events_pb2.MemoryChanged):
        raise MalformedEvent
    (memory,) = _ids([body.memory_id])
    unit = (await catalogue.units_by_id(event.tenant, [memory])).get(memory)
    if unit is not None:
        await index_document_again(event.tenant, unit, catalogue=catalogue, vectors=vectors, model=model)
        return []
    row = (await catalogue.memories(event.tenant, [memory])).get(memory)
    documents = await catalogue.documents_by_id(event.tenant, row.sources) if row is not None else {}
    if row is not None and documents:
        await index_memories(next(iter(documents.values())), [row], vectors=vectors, model=model)
        row = (await catalogue.memories(event.tenant, [memory])).get(memory)  # it may have been deleted meanwhile
    if row is None:
        await remove_memory(event.tenant, memory, vectors=vectors)
    return []


async def erase(event: Event, *, catalogue: EmbedCatalogue, vectors: VectorIndex, model: EmbeddingModel | None) -> Sequence[Event]:
    """Remove an erased document's rows, and those of memories that only it was a source of."""
    await remove_document(event.tenant, _document(event), event.generation, catalogue=catalogue, vectors=vectors, model=model)
    return []


async def undo(event: Event, *, catalogue: EmbedCatalogue, vectors: VectorIndex) -> None:
    """After the fence fell while `embed` or `embed_memories` worked: remove what they wrote."""
    body = event.body
    memories = _ids(body.memory_ids) if isinstance(body, events_pb2.MemoriesProposed) else []
    await remove_generation(event.tenant, _document(event), event.generation, memories, catalogue=catalogue, vectors=vectors)


async def _current(event: Event, catalogue: DocumentCatalogue) -> DocumentRow | None:
    row = await catalogue.document(event.tenant, _document(event))
    return row if row is not None and row.generation == event.generation else None


def _document(event: Event) -> UUID:
    if event.document is None:
        raise MalformedEvent
    return event.document


def _ids(texts: Sequence[str]) -> list[UUID]:
    try:
        return [UUID(text) for text in texts]
    except ValueError as error:
        raise MalformedEvent from error


def _salt(event: Event) -> str:
    """Carries the difference between a first event and its replay on to the next topic."""
    return str(event.id)

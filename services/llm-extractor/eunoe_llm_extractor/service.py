"""Use case of the llm-extractor: find the memories of a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.clock import Clock
from eunoe_contracts.content import Kind, Memory, Unit
from eunoe_contracts.errors import MalformedEvent
from eunoe_contracts.events import Event, document_event
from eunoe_stores.catalogue.port import DocumentCatalogue, MemoryCatalogue, UnitCatalogue

from eunoe_llm_extractor.backends.port import Proposer, Source


class ProposeCatalogue(DocumentCatalogue, UnitCatalogue, MemoryCatalogue, Protocol):
    """The parts of the catalogue that `propose` needs."""


async def propose(event: Event, *, catalogue: ProposeCatalogue, proposer: Proposer, clock: Clock) -> Sequence[Event]:
    """Find and store the memories of an extracted document; the document's memories become exactly these. May run twice.

    `memories.proposed` follows when there are any; without, `put_memories` has finished the later stages. Memories whose span does not
    occur literally in their passage are dropped. Nothing happens for a document that is erased or has a newer generation.
    """
    if event.document is None:
        raise MalformedEvent
    row = await catalogue.document(event.tenant, event.document)
    if row is None or row.generation != event.generation:
        return []
    units = await catalogue.units(row.tenant, row.id, row.generation, kinds=frozenset({Kind.PASSAGE}))
    source = Source(row.id, row.generation, row.container, row.title or row.name, units, row.metadata, row.event_time)
    memories = literal(await proposer.propose(row.tenant, source), units)
    stored = await catalogue.put_memories(row.tenant, row.id, row.generation, memories, now=clock.now())
    if not stored:
        return []
    body = events_pb2.MemoriesProposed(
        tenant=row.tenant,
        document_id=str(row.id),
        generation=row.generation,
        container=row.container,
        memory_ids=[str(each.id) for each in stored],
    )
    return [document_event(topics.MEMORIES_PROPOSED, body, trace=event.trace)]


def literal(memories: Sequence[Memory], units: Sequence[Unit]) -> list[Memory]:
    """The memories that rest on text which is really there."""
    texts = {unit.id: unit.text for unit in units}
    return [each for each in memories if each.text.strip() and each.span.strip() and each.span in texts.get(each.unit, "")]

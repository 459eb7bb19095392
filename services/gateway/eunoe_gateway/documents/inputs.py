"""The events that a stage, or the finisher, works from, made again from the catalogue: for replay and for the sweeper. They keep
the trace of the call that started the generation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.content import Kind
from eunoe_contracts.events import Event, document_event
from eunoe_contracts.stages import Stage, StageState
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.catalogue.rows import DocumentRow

INPUT_TOPICS = {
    Stage.EXTRACT: topics.DOCUMENT_ACCEPTED,
    Stage.EMBED: topics.DOCUMENT_EXTRACTED,
    Stage.STRUCTURE: topics.DOCUMENT_EXTRACTED,
    Stage.PROPOSE: topics.DOCUMENT_EXTRACTED,
    Stage.EMBED_MEMORIES: topics.MEMORIES_PROPOSED,
    Stage.RELATE: topics.MEMORIES_EMBEDDED,
}

PREDECESSORS = {
    Stage.EMBED: Stage.EXTRACT,
    Stage.STRUCTURE: Stage.EXTRACT,
    Stage.PROPOSE: Stage.EXTRACT,
    Stage.EMBED_MEMORIES: Stage.PROPOSE,
    Stage.RELATE: Stage.EMBED_MEMORIES,
}


def next_stages(row: DocumentRow) -> Iterator[Stage]:
    """Stages that have not ended and whose input event exists, in pipeline order."""
    states = {stage: each.state for stage, each in row.stages.items()}
    for stage in Stage:
        before = PREDECESSORS.get(stage)
        has_ended = states.get(stage) in {StageState.FINISHED, StageState.EXHAUSTED}
        if not has_ended and (before is None or states.get(before) is StageState.FINISHED):
            yield stage


async def next_inputs(row: DocumentRow, *, catalogue: Catalogue, salt: str) -> Sequence[Event]:
    """What all of `next_stages` work from, one event per topic."""
    by_topic = {INPUT_TOPICS[stage]: stage for stage in next_stages(row)}
    return [await input_event(stage, row, catalogue=catalogue, salt=salt) for stage in by_topic.values()]


def input_key(topic: str, row: DocumentRow) -> str:
    """Partition key of a document's event on that topic."""
    if topic in {topics.MEMORIES_PROPOSED, topics.MEMORIES_EMBEDDED}:
        return topics.container_key(row.tenant, row.container)
    return topics.document_key(row.tenant, str(row.id))


def accepted_event(row: DocumentRow, *, salt: str = "") -> Event:
    """The first event of a generation."""
    body = events_pb2.DocumentAccepted(tenant=row.tenant, document_id=str(row.id), generation=row.generation)
    return document_event(topics.DOCUMENT_ACCEPTED, body, trace=row.trace, salt=salt)


def finished_event(row: DocumentRow, *, salt: str) -> Event:
    """Wakes the finisher as the last stage that ended does."""
    stage = next((stage for stage in reversed(Stage) if stage in row.stages), Stage.EXTRACT)
    body = events_pb2.StageFinished(tenant=row.tenant, document_id=str(row.id), generation=row.generation, stage=stage)
    return document_event(topics.STAGE_FINISHED, body, trace=row.trace, salt=salt)


async def input_event(stage: Stage, row: DocumentRow, *, catalogue: Catalogue, salt: str) -> Event:
    """The input of a stage of the document's current generation."""
    topic = INPUT_TOPICS[stage]
    if topic == topics.DOCUMENT_ACCEPTED:
        return accepted_event(row, salt=salt)
    name = str(row.id)
    if topic == topics.DOCUMENT_EXTRACTED:
        passages = await catalogue.units(row.tenant, row.id, row.generation, kinds=frozenset({Kind.PASSAGE}))
        extracted = events_pb2.DocumentExtracted(tenant=row.tenant, document_id=name, generation=row.generation, passages=len(passages))
        return document_event(topic, extracted, trace=row.trace, salt=salt)
    found = await catalogue.memories_of(row.tenant, row.id, row.generation)
    body_type = events_pb2.MemoriesProposed if topic == topics.MEMORIES_PROPOSED else events_pb2.MemoriesEmbedded
    body = body_type(
        tenant=row.tenant,
        document_id=name,
        generation=row.generation,
        container=row.container,
        memory_ids=[str(memory.id) for memory, _, _ in found],
    )
    return document_event(topic, body, trace=row.trace, salt=salt)

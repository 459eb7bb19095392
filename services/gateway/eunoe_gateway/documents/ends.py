"""How a document ends: decided from the ledger, proved by reading back from the sinks, and only then told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from eunoe_contracts.content import Kind
from eunoe_contracts.errors import ReadBackFailed
from eunoe_contracts.events import Event
from eunoe_contracts.identity import row_key
from eunoe_contracts.stages import REQUIRED, DocumentStatus, Stage, StageState, degraded_stages, is_settled
from eunoe_stores.catalogue.rows import DocumentRow, End, StageRow

from eunoe_gateway.documents.erasure import erased_event
from eunoe_gateway.documents.inputs import next_inputs
from eunoe_gateway.documents.sinks import Sinks, remove_generations, withdraw

MOST_WRITES = 10
"""How often the projections are written before a document that is not found in them has failed."""

Ended = Callable[[DocumentStatus], None]
"""Told once per document that reached an end."""


def stage_states(row: DocumentRow) -> dict[Stage, StageState]:
    """The ledger of a document as states only."""
    return {stage: each.state for stage, each in row.stages.items()}


async def settle(
    tenant: str,
    document: UUID,
    generation: int,
    *,
    sinks: Sinks,
    now: datetime,
    with_vectors: bool,
    on_end: Ended,
    give_up: bool = False,
) -> Sequence[Event]:
    """End the document when its ledger allows it, then remove what the new generation replaces. May be called at any time.

    Returns the erasures of older versions of the same `custom_id`; when a row is not found in a sink, the inputs of the stages
    that write it again. Raises `ReadBackFailed` when they did that often enough; with `give_up` the document fails with that code.
    """
    row = await _current(tenant, document, generation, sinks=sinks)
    while row is not None and not row.status.is_end:
        if not is_settled(stage_states(row)):
            return []
        end = _failed_end(row) or await _read_back(row, sinks=sinks, with_vectors=with_vectors, now=now, give_up=give_up)
        if end is None:
            return await _inputs_again(row, sinks=sinks)
        # Only what was looked at may end: a replay may have reopened a stage meanwhile. Then look again.
        if await sinks.catalogue.set_end(tenant, document, generation, end, now=now, revision=row.revision):
            on_end(end.status)
        row = await _current(tenant, document, generation, sinks=sinks)
    if row is None:
        return []
    # From here on also after a crash or a redelivery: each step is idempotent.
    if row.status is DocumentStatus.DONE:
        return await _replace_older(row, sinks=sinks, now=now)
    if row.status.is_end:
        await withdraw(row, sinks=sinks)
    return []


async def _current(tenant: str, document: UUID, generation: int, *, sinks: Sinks) -> DocumentRow | None:
    row = await sinks.catalogue.document(tenant, document)
    return row if row is not None and row.generation == generation else None


def _failed_end(row: DocumentRow) -> End | None:
    for stage in Stage:
        found: StageRow | None = row.stages.get(stage)
        if stage in REQUIRED and found is not None and found.state is StageState.EXHAUSTED:
            return End(DocumentStatus.FAILED, code=found.code, message=found.message)
    return None


async def _read_back(row: DocumentRow, *, sinks: Sinks, with_vectors: bool, now: datetime, give_up: bool) -> End | None:
    """The end of a document whose stages have ended well; None when its projections are to be written again."""
    try:
        return await _found_end(row, stage_states(row), sinks=sinks, with_vectors=with_vectors)
    except ReadBackFailed as error:
        # A store may have lost what it had taken (power, a restored file): write it again before anything else.
        if await sinks.catalogue.repeat_projections(row.tenant, row.id, row.generation, limit=MOST_WRITES, now=now):
            return None
        if not give_up:
            raise
        return End(DocumentStatus.FAILED, code=error.code, message=error.message)


async def _found_end(row: DocumentRow, states: dict[Stage, StageState], *, sinks: Sinks, with_vectors: bool) -> End:
    tenant, generation = row.tenant, row.generation
    units = await sinks.catalogue.units(tenant, row.id, generation)
    memories = await sinks.catalogue.memories_of(tenant, row.id, generation)
    keys = [row_key(each.id, generation) for each in units if each.indexed]
    if states.get(Stage.EMBED_MEMORIES) is StageState.FINISHED:
        keys.extend(row_key(memory.id, memory.epoch) for memory, _, _ in memories)
    await sinks.vectors.flush()
    unindexed = await sinks.vectors.missing(tenant, keys, with_vectors=with_vectors)
    nodes = [row_key(row.id, generation), *(row_key(each.id, generation) for each in units if each.kind is Kind.PASSAGE)]
    unlinked = len(nodes) - len(await sinks.graph.nodes(tenant, nodes))
    if not any(each.kind is Kind.PASSAGE and each.indexed for each in units):
        # Nothing to look for is nothing that can be found: a document without text fails in extraction already.
        raise ReadBackFailed("the document has no passages to be found by")
    if unindexed or unlinked:
        raise ReadBackFailed(f"{len(unindexed)} rows not found in the index, {unlinked} nodes not found in the graph")
    counts = {
        "passages": sum(each.kind is Kind.PASSAGE for each in units),
        "sections": sum(each.kind is Kind.SECTION for each in units),
        "memories": len(memories),
        "entities": len({entity.id for _, _, entities in memories for entity in entities}),
    }
    return End(DocumentStatus.DONE, degraded=tuple(degraded_stages(states)), counts=counts)


async def _inputs_again(row: DocumentRow, *, sinks: Sinks) -> Sequence[Event]:
    again = await _current(row.tenant, row.id, row.generation, sinks=sinks)
    return await next_inputs(again, catalogue=sinks.catalogue, salt=f"read-back-{again.revision}") if again is not None else []


async def _replace_older(row: DocumentRow, *, sinks: Sinks, now: datetime) -> Sequence[Event]:
    older = row.generation - 1
    await remove_generations(row.tenant, row.id, through_generation=older, sinks=sinks)
    if older:
        await sinks.catalogue.drop_through(row.tenant, row.id, through_generation=older)
    events = []
    if row.custom_id:
        for version in await sinks.catalogue.older_versions(row.tenant, row.id):
            erasure = await sinks.catalogue.erase(row.tenant, version, now=now)
            if erasure is not None:
                events.append(erased_event(erasure, trace=row.trace))
    return events

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
from eunoe_gateway.documents.sinks import Sinks, remove_generations, withdraw

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

    Returns the erasures of older versions of the same `custom_id`. Raises `ReadBackFailed` when a row is not found in a sink;
    with `give_up` the document fails with that code instead.
    """
    while True:
        row = await sinks.catalogue.document(tenant, document)
        if row is None or row.generation != generation:
            return []
        if row.status.is_end:
            break
        states = stage_states(row)
        if not is_settled(states):
            return []
        end = _failed_end(row) or await _found_end(row, states, sinks=sinks, with_vectors=with_vectors, give_up=give_up)
        # Only what was looked at may end: a replay may have reopened a stage meanwhile. Then look again.
        if await sinks.catalogue.set_end(tenant, document, generation, end, now=now, revision=row.revision):
            on_end(end.status)
    # From here on also after a crash or a redelivery: each step is idempotent.
    if row.status is DocumentStatus.DONE:
        return await _replace_older(row, sinks=sinks, now=now)
    if row.status.is_end:
        await withdraw(row, sinks=sinks)
    return []


def _failed_end(row: DocumentRow) -> End | None:
    for stage in Stage:
        found: StageRow | None = row.stages.get(stage)
        if stage in REQUIRED and found is not None and found.state is StageState.EXHAUSTED:
            return End(DocumentStatus.FAILED, code=found.code, message=found.message)
    return None


async def _found_end(row: DocumentRow, states: dict[Stage, StageState], *, sinks: Sinks, with_vectors: bool, give_up: bool) -> End:
    tenant, generation = row.tenant, row.generation
    units = await sinks.catalogue.units(tenant, row.id, generation)
    memories = await sinks.catalogue.memories_of(tenant, row.id, generation)
    keys = [row_key(each.id, generation) for each in units if each.indexed]
    if states.get(Stage.EMBED_MEMORIES) is StageState.FINISHED:
        keys.extend(row_key(memory.id, memory.epoch) for memory, _, _ in memories)
    await sinks.vectors.flush()
    unindexed = await sinks.vectors.missing(tenant, keys, with_vectors=with_vectors) if keys else ()
    nodes = [row_key(row.id, generation), *(row_key(each.id, generation) for each in units if each.kind is Kind.PASSAGE)]
    unlinked = len(nodes) - len(await sinks.graph.nodes(tenant, nodes))
    if unindexed or unlinked:
        failure = ReadBackFailed(f"{len(unindexed)} rows not found in the index, {unlinked} nodes not found in the graph")
        if give_up:
            return End(DocumentStatus.FAILED, code=failure.code, message=failure.message)
        raise failure
    counts = {
        "passages": sum(each.kind is Kind.PASSAGE for each in units),
        "sections": sum(each.kind is Kind.SECTION for each in units),
        "memories": len(memories),
        "entities": len({entity.id for _, _, entities in memories for entity in entities}),
    }
    return End(DocumentStatus.DONE, degraded=tuple(degraded_stages(states)), counts=counts)


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
                events.append(erased_event(erasure))
    return events

"""Stages of the ledger, states of a stage, and how a document's status follows from them.

`queued -> extracting -> chunking -> embedding -> indexing -> done | failed`, never going back within a generation.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum


class Stage(StrEnum):
    """One row of the ledger per document, generation and stage."""

    EXTRACT = "extract"
    EMBED = "embed"
    PROPOSE = "propose"
    EMBED_MEMORIES = "embed_memories"
    STRUCTURE = "structure"
    RELATE = "relate"


REQUIRED = frozenset({Stage.EXTRACT, Stage.EMBED, Stage.STRUCTURE})
"""A document fails when one of these is exhausted; the others only degrade it."""

FOLLOWS = {Stage.EMBED_MEMORIES: Stage.PROPOSE, Stage.RELATE: Stage.EMBED_MEMORIES}
"""A stage whose predecessor is exhausted never runs; it is not waited for."""


class StageState(StrEnum):
    """`waiting` (also between retries), `running` (a lease is held), `finished`, `exhausted` (a dead letter exists)."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    EXHAUSTED = "exhausted"


class DocumentStatus(StrEnum):
    """Status as the doors report it."""

    QUEUED = "queued"
    EXTRACTING = "extracting"
    CHUNKING = "chunking"
    EMBEDDING = "embedding"
    INDEXING = "indexing"
    DONE = "done"
    FAILED = "failed"
    ERASED = "erased"
    CANCELLED = "cancelled"

    @property
    def is_end(self) -> bool:
        """True for done, failed, erased and cancelled."""
        return self in ENDS


ENDS = frozenset({DocumentStatus.DONE, DocumentStatus.FAILED, DocumentStatus.ERASED, DocumentStatus.CANCELLED})

RANK: Mapping[DocumentStatus, int] = {
    DocumentStatus.QUEUED: 0,
    DocumentStatus.EXTRACTING: 1,
    DocumentStatus.CHUNKING: 2,
    DocumentStatus.EMBEDDING: 3,
    DocumentStatus.INDEXING: 4,
    DocumentStatus.DONE: 5,
    DocumentStatus.FAILED: 5,
    DocumentStatus.CANCELLED: 5,
    DocumentStatus.ERASED: 6,
}
"""Order of the statuses; a change to a lower rank is refused within a generation."""


def open_status(stages: Mapping[Stage, StageState]) -> DocumentStatus:
    """Status of a document that has not ended, from its ledger rows (a missing row is `waiting`)."""
    extract = stages.get(Stage.EXTRACT, StageState.WAITING)
    if extract is StageState.WAITING:
        return DocumentStatus.QUEUED
    if extract is StageState.RUNNING:
        return DocumentStatus.EXTRACTING
    embed = stages.get(Stage.EMBED, StageState.WAITING)
    if embed is StageState.WAITING:
        return DocumentStatus.CHUNKING
    if embed is StageState.RUNNING:
        return DocumentStatus.EMBEDDING
    return DocumentStatus.INDEXING


def is_settled(stages: Mapping[Stage, StageState]) -> bool:
    """True when no stage has work left: all ended, or cut off by an exhausted predecessor or a failed required stage."""
    if any(stages.get(stage) is StageState.EXHAUSTED for stage in REQUIRED):
        return True
    return all(_has_ended(stage, stages) for stage in Stage)


def _has_ended(stage: Stage, stages: Mapping[Stage, StageState]) -> bool:
    if stages.get(stage) in {StageState.FINISHED, StageState.EXHAUSTED}:
        return True
    before = FOLLOWS.get(stage)
    while before is not None:
        if stages.get(before) is StageState.EXHAUSTED:
            return True
        before = FOLLOWS.get(before)
    return False


def degraded_stages(stages: Mapping[Stage, StageState]) -> list[Stage]:
    """Optional stages that are exhausted, in pipeline order."""
    return [stage for stage in Stage if stage not in REQUIRED and stages.get(stage) is StageState.EXHAUSTED]


class ClaimOutcome(StrEnum):
    """Answer to a worker that wants to run a stage.

    `claimed`: go on. `finished`: the effect is there; publish what follows again and commit. `fenced`: a newer generation,
    an erasure or a failed end forbids it; drop the record. `busy`: another worker holds a live lease; try later.
    `exhausted`: a dead letter exists already; drop the record.
    """

    CLAIMED = "claimed"
    FINISHED = "finished"
    FENCED = "fenced"
    BUSY = "busy"
    EXHAUSTED = "exhausted"


class FinishOutcome(IntEnum):
    """Answer to a worker that finished a stage. False only when `FENCED`: the effect must be undone.

    `SETTLED` means that no stage of the document has work left now, so the gateway is to be woken.
    """

    FENCED = 0
    FINISHED = 1
    SETTLED = 2

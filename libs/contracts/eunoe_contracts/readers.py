"""Who reads which topic: consumer groups, and the input of every stage. Known to all, so that nobody needs another service to tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eunoe_contracts import topics
from eunoe_contracts.stages import Stage

EXTRACT = "extract"
EMBED = "embedder"
PROPOSE = "propose"
GRAPH = "graph"
FINISH = "finish"
ERASE_GATEWAY = "erase-gateway"


@dataclass(frozen=True, slots=True)
class StageInput:
    """Where a stage reads its work: topic and consumer group."""

    topic: str
    group: str


STAGE_INPUTS: Mapping[Stage, StageInput] = {
    Stage.EXTRACT: StageInput(topics.DOCUMENT_ACCEPTED, EXTRACT),
    Stage.EMBED: StageInput(topics.DOCUMENT_EXTRACTED, EMBED),
    Stage.PROPOSE: StageInput(topics.DOCUMENT_EXTRACTED, PROPOSE),
    Stage.EMBED_MEMORIES: StageInput(topics.MEMORIES_PROPOSED, EMBED),
    Stage.STRUCTURE: StageInput(topics.DOCUMENT_EXTRACTED, GRAPH),
    Stage.RELATE: StageInput(topics.MEMORIES_EMBEDDED, GRAPH),
}

READERS: tuple[StageInput, ...] = (
    *STAGE_INPUTS.values(),
    StageInput(topics.MEMORY_CHANGED, EMBED),
    StageInput(topics.DOCUMENT_ERASED, EXTRACT),
    StageInput(topics.DOCUMENT_ERASED, EMBED),
    StageInput(topics.DOCUMENT_ERASED, GRAPH),
    StageInput(topics.DOCUMENT_ERASED, ERASE_GATEWAY),
    StageInput(topics.STAGE_FINISHED, FINISH),
)
"""Every topic with every group that reads it: what a broker needs retry and dead topics for. A test compares it with the services."""

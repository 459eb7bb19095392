"""What the llm-extractor offers to a process."""

from __future__ import annotations

from functools import partial

from eunoe_contracts import readers, topics
from eunoe_contracts.clock import Clock
from eunoe_contracts.stages import Stage
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stream.subscription import Service, Subscription

from eunoe_llm_extractor import service
from eunoe_llm_extractor.backends.port import Proposer
from eunoe_llm_extractor.backends.rules import RulesProposer
from eunoe_llm_extractor.config import LlmSettings

NAME = "llm-extractor"
GROUP = readers.PROPOSE


def proposer_for(settings: LlmSettings) -> Proposer:
    """The configured backend."""
    return RulesProposer(most=settings.max_memories)


def build(settings: LlmSettings, *, catalogue: Catalogue, clock: Clock, proposer: Proposer | None = None) -> Service:
    """One subscription: memories of extracted documents. `proposer` replaces the configured backend."""
    backend = proposer or proposer_for(settings)
    # No undo: the catalogue refuses memories behind the fence, and whatever came before it is removed by the erasure.
    propose = Subscription(
        topic=topics.DOCUMENT_EXTRACTED,
        group=GROUP,
        handler=partial(service.propose, catalogue=catalogue, proposer=backend, clock=clock),
        stage=Stage.PROPOSE,
        concurrency=settings.concurrency,
        deadline_s=settings.deadline_s,
        max_attempts=settings.max_attempts,
    )
    return Service(NAME, (propose,))

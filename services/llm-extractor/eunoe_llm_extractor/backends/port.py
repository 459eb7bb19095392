"""The port behind which memories are found, with or without a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from eunoe_contracts.content import Memory, Metadata, Unit


@dataclass(frozen=True, slots=True)
class Source:
    """A document as a proposer sees it. `units` are its passages in order."""

    document: UUID
    generation: int
    container: str
    title: str
    units: Sequence[Unit]
    metadata: Metadata = field(default_factory=dict)
    event_time: datetime | None = None


class Proposer(Protocol):
    """Finds memories."""

    async def propose(self, tenant: str, source: Source) -> Sequence[Memory]:
        """Memories in document order; each rests on a `span` that occurs literally in the text of its `unit`.

        What does not is dropped by the caller. Raises `ModelUnavailable` when a model does not answer. May be called twice.
        """
        ...

"""Making what was erased unrecoverable from the files: for all erasures of a pass together, since it costs as much as one."""

from __future__ import annotations

from dataclasses import dataclass

from eunoe_contracts.clock import Clock

from eunoe_gateway.documents.sinks import Sinks

REST = 10
"""Times its own duration that a purge is followed by a rest: it takes longer the larger the index is, and holds its writes up."""
LONGEST_REST_S = 60.0


@dataclass(slots=True)
class Purge:
    """Runs a tenth of the time, or once a minute; what is erased meanwhile waits for its next run. One that could not be finished
    had little to do, and is tried again at once.
    """

    sinks: Sinks
    clock: Clock
    due_at: float = 0.0

    @property
    def is_due(self) -> bool:
        """False while it rests."""
        return self.clock.monotonic() >= self.due_at

    async def run(self) -> bool:
        """True when nothing of what was removed before can be read from the files any more; else try again later."""
        began = self.clock.monotonic()
        if not (await self.sinks.vectors.purge() and await self.sinks.catalogue.purge()):
            return False
        now = self.clock.monotonic()
        self.due_at = now + min(REST * (now - began), LONGEST_REST_S)
        return True

"""Turns of a conversation: which session a document belongs to, and what was said before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from eunoe_contracts.clock import Clock
from eunoe_contracts.content import Unit
from eunoe_stores.catalogue.port import UnitCatalogue
from eunoe_stores.catalogue.rows import DocumentRow

WAIT_S = 0.5
PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class Turn:
    """A document's place in a conversation."""

    session: str
    position: int | None


def turn_of(row: DocumentRow) -> Turn | None:
    """From `metadata.session` and `metadata.position`; None for a document that is no turn."""
    session, position = row.metadata.get("session"), row.metadata.get("position")
    if not isinstance(session, str) or not session:
        return None
    return Turn(session, position if isinstance(position, int) and not isinstance(position, bool) else None)


@dataclass(frozen=True, slots=True)
class Before:
    """What was said before a turn, with its speaker; empty for the first.

    `awaited` is the turn before while it is not read yet, `is_gap` when the position before has not come in (yet).
    """

    text: str = ""
    awaited: UUID | None = None
    is_gap: bool = False

    @property
    def is_final(self) -> bool:
        """True when waiting would change nothing."""
        return self.awaited is None and not self.is_gap


async def said_before(row: DocumentRow, turn: Turn, *, catalogue: UnitCatalogue) -> Before:
    """The whole text of the turn before this one, as far as it is there now."""
    if turn.position is None:
        return Before()
    earlier = await catalogue.turn_before(row.tenant, row.container, turn.session, before=turn.position)
    if earlier is None:
        return Before(is_gap=turn.position > 0)
    is_gap = earlier.position != turn.position - 1
    if not earlier.passages:
        return Before(awaited=earlier.document if earlier.is_awaited else None, is_gap=is_gap)
    return Before(said(earlier.passages), is_gap=is_gap)


def said(passages: Sequence[Unit]) -> str:
    """What a turn said, with its speaker; empty without passages."""
    if not passages:
        return ""
    text, speaker = "\n".join(each.text for each in passages), passages[-1].location.speaker
    return f"{speaker}: {text}" if speaker else text


async def awaited_before(row: DocumentRow, turn: Turn, *, catalogue: UnitCatalogue, clock: Clock) -> Before:
    """As `said_before`, when the turn before this one has been read: turns posted together are accepted and read in any order.

    Waits half a second for one that is not read yet, or may still come in.
    """
    began = clock.monotonic()
    while True:
        before = await said_before(row, turn, catalogue=catalogue)
        if before.is_final or clock.monotonic() >= began + WAIT_S:
            return before
        await clock.sleep(PAUSE_S)

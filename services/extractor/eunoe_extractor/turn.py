"""Turns of a conversation: which session a document belongs to, and what was said before it."""

from __future__ import annotations

from dataclasses import dataclass

from eunoe_contracts.clock import Clock
from eunoe_stores.catalogue.port import UnitCatalogue
from eunoe_stores.catalogue.rows import DocumentRow

WAIT_S = 5.0
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
    """What was said before a turn, with its speaker; empty for the first. `is_final` once no earlier turn is awaited any more."""

    text: str
    is_final: bool = True


async def said_before(row: DocumentRow, turn: Turn, *, catalogue: UnitCatalogue) -> Before:
    """The whole text of the turn before this one, as far as it is there now."""
    if turn.position is None:
        return Before("")
    earlier = await catalogue.turn_before(row.tenant, row.container, turn.session, before=turn.position)
    if earlier is None or not earlier.passages:
        return Before("", is_final=earlier is None or not earlier.is_awaited)
    text, speaker = "\n".join(each.text for each in earlier.passages), earlier.passages[-1].location.speaker
    return Before(f"{speaker}: {text}" if speaker else text)


async def awaited_before(row: DocumentRow, turn: Turn, *, catalogue: UnitCatalogue, clock: Clock) -> Before:
    """As `said_before`, after the turn before this one has been read: turns posted together are read at the same time.

    Waits up to five seconds, so that the context does not depend on which worker was faster.
    """
    deadline = clock.monotonic() + WAIT_S
    while True:
        before = await said_before(row, turn, catalogue=catalogue)
        if before.is_final or clock.monotonic() >= deadline:
            return before
        await clock.sleep(PAUSE_S)

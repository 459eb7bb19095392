"""Turns of a conversation: which session a document belongs to, and what was said before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from eunoe_contracts.clock import Clock
from eunoe_contracts.stages import DocumentStatus
from eunoe_stores.catalogue.port import DocumentCatalogue, UnitCatalogue
from eunoe_stores.catalogue.rows import DocumentQuery, DocumentRow, Page

WAIT_S = 5.0
PAUSE_S = 0.1
OPEN_LISTED = 200
WAITED_FOR = (DocumentStatus.QUEUED, DocumentStatus.EXTRACTING)
"""In the order a document passes them, so that one that moves on between two questions is seen."""


class TurnCatalogue(DocumentCatalogue, UnitCatalogue, Protocol):
    """The parts of the catalogue that are read here."""


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


async def text_before(row: DocumentRow, turn: Turn, *, catalogue: TurnCatalogue, clock: Clock) -> str:
    """The whole text of the turn before this one, with its speaker; empty for the first.

    Turns posted together are read at the same time. While an earlier turn of the session is still to be read this waits, up to
    five seconds, so that the context does not depend on which worker was faster.
    """
    if turn.position is None:
        return ""
    deadline = clock.monotonic() + WAIT_S
    is_open = True
    while True:
        last = await catalogue.last_turn(row.tenant, row.container, turn.session, before=turn.position)
        source = await catalogue.document(row.tenant, last.document) if last is not None else None
        reached = turn_of(source) if source is not None else None
        position = reached.position if reached is not None else None
        is_next = position is not None and position == turn.position - 1
        if is_next or not is_open or clock.monotonic() >= deadline:
            break
        # Asked before the turn is read again: what is not open by then has been stored.
        is_open = await _is_one_open(row, turn, position, catalogue=catalogue)
        if is_open:
            await clock.sleep(PAUSE_S)
    if last is None:
        return ""
    units = await catalogue.units(row.tenant, last.document, last.generation)
    text = "\n".join(each.text for each in units if each.kind is last.kind) or last.text
    return f"{last.location.speaker}: {text}" if last.location.speaker else text


async def _is_one_open(row: DocumentRow, turn: Turn, reached: int | None, *, catalogue: TurnCatalogue) -> bool:
    for status in WAITED_FOR:
        query = DocumentQuery(container=row.container, status=str(status))
        listed, _ = await catalogue.list_documents(row.tenant, query, Page(limit=OPEN_LISTED))
        for each in listed:
            other = turn_of(each)
            if other is None or other.session != turn.session or other.position is None or turn.position is None:
                continue
            if other.position < turn.position and (reached is None or other.position > reached):
                return True
    return False

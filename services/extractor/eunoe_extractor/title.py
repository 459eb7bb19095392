"""The title, date and conversation of a document, from its row and from what the parser read."""

from __future__ import annotations

from datetime import datetime

from eunoe_contracts.formats import by_name
from eunoe_stores.catalogue.rows import DocumentRow

from eunoe_extractor.segments.context import spoken_date
from eunoe_extractor.turn import turn_of

LONGEST_TITLE = 300


def title_of(row: DocumentRow, parsed_title: str) -> str:
    """The caller's `metadata.title`, else the title inside the document, else the file name without its extension.

    The name of a conversation turn is only made up to tell turns apart; it is no title.
    """
    given = row.metadata.get("title")
    title = given if isinstance(given, str) and given.strip() else parsed_title
    if not title.strip() and turn_of(row) is None:
        title = row.name.rpartition(".")[0] if by_name(row.name) else row.name
    return " ".join(title.split())[:LONGEST_TITLE]


def date_of(row: DocumentRow) -> str:
    """The caller's `metadata.date` in words, else the event time; empty when neither is known."""
    given = row.metadata.get("date")
    if isinstance(given, str) and given.strip():
        try:
            return spoken_date(datetime.fromisoformat(given.strip()))
        except ValueError:
            return " ".join(given.split())
    return spoken_date(row.event_time) if row.event_time is not None else ""


def speaker_of(row: DocumentRow) -> str:
    """`metadata.speaker` of a conversation turn."""
    given = row.metadata.get("speaker")
    return " ".join(given.split()) if isinstance(given, str) else ""

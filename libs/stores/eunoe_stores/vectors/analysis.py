"""What every adapter makes of a row before it is written."""

from __future__ import annotations

from datetime import UTC, datetime

from eunoe_stores.analyser import analyse, analyse_part
from eunoe_stores.vectors.port import IndexRow


def tokens_of(row: IndexRow) -> tuple[list[str], list[str]]:
    """Tokens of the body and of the contextual text. That mostly ends with the body, whose tokens are then known: analysing is half
    of what a row costs.
    """
    body = analyse_part(row.body)
    before = row.context.removesuffix(row.body.strip())
    if body and len(before) < len(row.context) and (not before or before[-1].isspace()):
        return body, analyse_part(before) + body
    return analyse(row.body), analyse(row.context)


def seconds(when: datetime) -> float:
    """Seconds since 1970; a time without a zone is UTC."""
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()

"""What the processes of a service can do: each says it again and again, and whoever gives them work reads it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

EXTRACTOR = "extractor"
"""Reports the ids of the formats that it reads."""
REPORT_EVERY = timedelta(seconds=30)
LIVING_FOR = 3 * REPORT_EVERY
"""A process that has said nothing for longer than this, while another one has, is gone."""


@dataclass(frozen=True, slots=True)
class CapabilityReport:
    """What one process of a service said last."""

    instance: str
    names: frozenset[str]
    seen_at: datetime


def of_all(reports: Collection[CapabilityReport]) -> frozenset[str] | None:
    """What every living process can do; None when none has ever said anything.

    All of them read the same topics, and any may get the next record: what one of them cannot do would fail there. Age is told from the
    newest report, not from now. So while all are down, what they could do stays true: their work waits for them.
    """
    if not reports:
        return None
    newest = max(each.seen_at for each in reports)
    living = [each.names for each in reports if newest - each.seen_at <= LIVING_FOR]
    return frozenset.intersection(*living)

"""What the runner needs of the catalogue, as a structural port: claims, fence, ends of stages, dead letters.

Every call is a compare-and-set; calling twice is harmless.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from eunoe_contracts.stages import ClaimOutcome, FinishOutcome, Stage


@dataclass(frozen=True, slots=True)
class StageKey:
    """One ledger row."""

    document: UUID
    generation: int
    stage: Stage


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a record was given up, or is tried again. `message` carries no content."""

    code: str
    message: str
    attempts: int
    first_failed_at: datetime
    failed_at: datetime
    trace: str = ""
    topic: str = ""


class StageLedger(Protocol):
    """Stage rows of the catalogue."""

    async def claim(self, tenant: str, key: StageKey, *, owner: str, lease_s: float, now: datetime) -> ClaimOutcome:
        """Take the row for `owner` until now + lease. The same owner may claim again."""
        ...

    async def renew(self, tenant: str, key: StageKey, *, owner: str, lease_s: float, now: datetime) -> bool:
        """Extend the lease; false when another owner has it."""
        ...

    async def may_write(self, tenant: str, document: UUID, generation: int) -> bool:
        """The fence: false when a newer generation was accepted, or the document is erased, cancelled, failed or unknown."""
        ...

    async def finish(self, tenant: str, key: StageKey, *, owner: str, now: datetime) -> FinishOutcome:
        """Mark the stage finished, also when somebody else did, and say whether it was the last; or `FENCED`."""
        ...

    async def release(self, tenant: str, key: StageKey, *, owner: str, failure: Failure | None, now: datetime) -> None:
        """Back to waiting: with a failure before a retry, without one when the work was cancelled."""
        ...

    async def exhaust(self, tenant: str, key: StageKey, failure: Failure) -> None:
        """Mark the stage exhausted and write its dead letter, in one transaction. Nothing when fenced or already exhausted."""
        ...

    async def stage_outcomes(self, tenant: str, document: UUID, generation: int) -> Mapping[Stage, ClaimOutcome]:
        """Ended stages only (finished or exhausted)."""
        ...

    async def record_poison(self, tenant: str, *, group: str, failure: Failure, event_id: str, document: UUID | None) -> None:
        """Write a dead letter for a record that belongs to no ledger row (unreadable, or of a handler without a stage)."""
        ...

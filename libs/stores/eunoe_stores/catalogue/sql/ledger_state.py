"""What may happen to a stage, as pure functions on a snapshot of one document's ledger."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from eunoe_contracts.stages import (
    RANK,
    ClaimOutcome,
    DocumentStatus,
    FinishOutcome,
    Stage,
    StageState,
    is_settled,
    open_status,
)

PROJECTING = frozenset({Stage.EMBED, Stage.EMBED_MEMORIES, Stage.STRUCTURE, Stage.RELATE})
"""Stages that write rows of the vector index or the graph."""


MEMORY_STAGES = (Stage.EMBED_MEMORIES, Stage.RELATE)
"""Stages that work on a document's memories."""


class StageKeyLike(Protocol):
    """Shape of `eunoe_stream.ledger.StageKey`, which this library cannot import."""

    @property
    def document(self) -> UUID:
        """Document."""
        ...

    @property
    def generation(self) -> int:
        """Its generation."""
        ...

    @property
    def stage(self) -> Stage:
        """Stage."""
        ...


class FailureLike(Protocol):
    """Shape of `eunoe_stream.ledger.Failure`."""

    @property
    def code(self) -> str:
        """Stable code of the error."""
        ...

    @property
    def message(self) -> str:
        """Message without content."""
        ...

    @property
    def attempts(self) -> int:
        """Attempts so far."""
        ...

    @property
    def first_failed_at(self) -> datetime:
        """Time of the first failure."""
        ...

    @property
    def failed_at(self) -> datetime:
        """Time of this failure."""
        ...

    @property
    def trace(self) -> str:
        """Trace context."""
        ...

    @property
    def topic(self) -> str:
        """Topic of the record."""
        ...


@dataclass(slots=True)
class Entry:
    """One stage. `stored` is false until its row exists; `changed` when the row must be written."""

    state: StageState = StageState.WAITING
    owner: str = ""
    lease_until: datetime | None = None
    attempts: int = 0
    code: str = ""
    message: str = ""
    updated_at: datetime | None = None
    stored: bool = False
    changed: bool = False


@dataclass(slots=True)
class Ledger:
    """Snapshot of the current generation of a document. Methods change it; whoever loaded it writes the changes back."""

    sequence: int
    generation: int
    status: DocumentStatus
    entries: dict[Stage, Entry] = field(default_factory=dict)
    changed_at: datetime | None = None

    def is_fenced(self, generation: int) -> bool:
        """True when nothing may be written for that generation any more."""
        return generation != self.generation or (self.status.is_end and self.status is not DocumentStatus.DONE)

    def claim(self, stage: Stage, *, owner: str, lease_s: float, now: datetime) -> ClaimOutcome:
        """See `StageLedger.claim`."""
        entry = self._entry(stage)
        if entry.state is StageState.FINISHED:
            return ClaimOutcome.FINISHED
        if entry.state is StageState.EXHAUSTED:
            return ClaimOutcome.EXHAUSTED
        if entry.state is StageState.RUNNING and entry.owner != owner and _is_live(entry.lease_until, lease_s, now):
            return ClaimOutcome.BUSY
        entry.state = StageState.RUNNING
        entry.owner = owner
        entry.lease_until = now + timedelta(seconds=lease_s)
        self._touch(entry, now)
        return ClaimOutcome.CLAIMED

    def renew(self, stage: Stage, *, owner: str, lease_s: float, now: datetime) -> bool:
        """See `StageLedger.renew`. Not a change that a watcher could see, so the revision stays."""
        entry = self._entry(stage)
        if entry.state is not StageState.RUNNING or entry.owner != owner:
            return False
        entry.lease_until = now + timedelta(seconds=lease_s)
        entry.changed = True
        return True

    def finish(self, stage: Stage, *, now: datetime) -> FinishOutcome:
        """See `StageLedger.finish`. The effects are idempotent and there, so it does not matter who has the lease now."""
        entry = self._entry(stage)
        if entry.state is StageState.EXHAUSTED:
            return FinishOutcome.FENCED
        if entry.state is not StageState.FINISHED:
            self._end(entry, StageState.FINISHED, now)
            entry.attempts += 1
            entry.code = entry.message = ""
        return FinishOutcome.SETTLED if is_settled(self.states()) else FinishOutcome.FINISHED

    def release(self, stage: Stage, *, owner: str, failure: FailureLike | None, now: datetime) -> None:
        """See `StageLedger.release`."""
        entry = self._entry(stage)
        if entry.state is not StageState.RUNNING or entry.owner != owner:
            return
        self._end(entry, StageState.WAITING, now)
        if failure is not None:
            entry.attempts, entry.code, entry.message = failure.attempts, failure.code, failure.message

    def exhaust(self, stage: Stage, failure: FailureLike) -> bool:
        """See `StageLedger.exhaust`; true when this call did it."""
        entry = self._entry(stage)
        if entry.state in {StageState.FINISHED, StageState.EXHAUSTED}:
            return False
        self._end(entry, StageState.EXHAUSTED, failure.failed_at)
        entry.attempts, entry.code, entry.message = failure.attempts, failure.code, failure.message
        return True

    def proposed(self, *, any_memories: bool, now: datetime) -> None:
        """Memories were stored. Without any, the stages that work on them have nothing to do and are finished without an attempt; when
        a repetition finds some after all, they are to run: all of them, as each waits for what the one before says.
        """
        entries = [self._entry(each) for each in MEMORY_STAGES]
        skipped = any(each.state is StageState.FINISHED and not each.attempts for each in entries)
        for entry in entries:
            if any_memories and skipped and entry.state is StageState.FINISHED:
                self._end(entry, StageState.WAITING, now)
            elif not any_memories and entry.state is StageState.WAITING:
                self._end(entry, StageState.FINISHED, now)

    def reopen(self, stage: Stage, *, now: datetime) -> None:
        """Back to waiting for a replay; the status of the document is computed anew and may go back.

        The rows of a failed document were taken out of the projections, so the stages that wrote them work again too; so do those
        that were running at its end, whose claims nobody could give back behind the fence.
        """
        if self.status is DocumentStatus.FAILED:
            for each in (*self._projected(), *(entry for entry in self.entries.values() if entry.state is StageState.RUNNING)):
                self._end(each, StageState.WAITING, now)
        entry = self._entry(stage)
        if entry.state is StageState.EXHAUSTED:
            self._end(entry, StageState.WAITING, now)
            entry.attempts, entry.code, entry.message = 0, "", ""
        self.status = open_status(self.states())
        self.changed_at = now

    def repeat_projections(self, *, limit: int, now: datetime) -> bool:
        """See `LedgerCatalogue.repeat_projections`."""
        projected = self._projected()
        if self.status.is_end or not projected or any(each.attempts >= limit for each in projected):
            return False
        for each in projected:
            self._end(each, StageState.WAITING, now)
        # The status stays: nobody asked for this repetition, and within a generation it never goes back.
        return True

    def _projected(self) -> list[Entry]:
        return [self.entries[each] for each in PROJECTING & self.entries.keys() if self.entries[each].state is StageState.FINISHED]

    def states(self) -> dict[Stage, StageState]:
        """State of each stage that has a row."""
        return {stage: entry.state for stage, entry in self.entries.items()}

    def _entry(self, stage: Stage) -> Entry:
        return self.entries.setdefault(stage, Entry())

    def _end(self, entry: Entry, state: StageState, now: datetime) -> None:
        entry.state = state
        entry.owner = ""
        entry.lease_until = None
        self._touch(entry, now)

    def _touch(self, entry: Entry, now: datetime) -> None:
        entry.updated_at = now
        entry.changed = True
        self.changed_at = now
        status = open_status(self.states())
        if RANK[status] > RANK[self.status]:
            self.status = status


def _is_live(until: datetime | None, lease_s: float, now: datetime) -> bool:
    # A lease far in the future was written by a clock that has since been set back; it must not block for longer than a lease.
    return until is not None and now < until <= now + timedelta(seconds=2 * lease_s)

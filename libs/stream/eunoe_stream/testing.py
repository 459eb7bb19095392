"""Fakes for tests and for users: a log in memory and a ledger in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from eunoe_contracts.stages import ClaimOutcome, FinishOutcome, Stage, StageState

from eunoe_stream.ledger import Failure, StageKey
from eunoe_stream.memory import MemoryLog

__all__ = ["FakeLedger", "MemoryLog"]

_ENDED = {StageState.FINISHED: ClaimOutcome.FINISHED, StageState.EXHAUSTED: ClaimOutcome.EXHAUSTED}


@dataclass(slots=True)
class _Row:
    state: StageState = StageState.WAITING
    owner: str = ""
    until: datetime | None = None


class FakeLedger:
    """`StageLedger` in dictionaries. Every document may be written unless it was fenced.

    `fail(name, error, times)` lets the next calls of a method fail; `calls` counts all calls by name.
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[str, StageKey], _Row] = {}
        self._fences: dict[tuple[str, UUID], int] = {}
        self._errors: dict[str, list[BaseException]] = {}
        self.calls: dict[str, int] = {}
        self.releases: list[tuple[StageKey, Failure | None]] = []
        self.dead_letters: list[tuple[StageKey, Failure]] = []
        self.poison: list[tuple[str, str, Failure, str, UUID | None]] = []

    def state(self, tenant: str, key: StageKey) -> StageState:
        """State of a row."""
        return self._row(tenant, key).state

    def fence(self, tenant: str, document: UUID, *, through_generation: int) -> None:
        """Forbid writes of these generations."""
        self._fences[tenant, document] = through_generation

    def fail(self, name: str, error: BaseException, *, times: int = 1) -> None:
        """Let the next `times` calls of the method raise `error`."""
        self._errors.setdefault(name, []).extend([error] * times)

    def reopen(self, tenant: str, key: StageKey) -> None:
        """Back to waiting, as a replay does."""
        self._rows[tenant, key] = _Row()

    def _row(self, tenant: str, key: StageKey) -> _Row:
        return self._rows.setdefault((tenant, key), _Row())

    def _enter(self, name: str) -> None:
        self.calls[name] = self.calls.get(name, 0) + 1
        if waiting := self._errors.get(name):
            raise waiting.pop(0)

    def _is_fenced(self, tenant: str, document: UUID, generation: int) -> bool:
        return generation <= self._fences.get((tenant, document), -1)

    async def claim(self, tenant: str, key: StageKey, *, owner: str, lease_s: float, now: datetime) -> ClaimOutcome:
        """See `StageLedger.claim`."""
        self._enter("claim")
        row = self._row(tenant, key)
        if self._is_fenced(tenant, key.document, key.generation):
            return ClaimOutcome.FENCED
        if (ended := _ENDED.get(row.state)) is not None:
            return ended
        if row.state is StageState.RUNNING and row.owner != owner and row.until is not None and row.until > now:
            return ClaimOutcome.BUSY
        row.state, row.owner, row.until = StageState.RUNNING, owner, now + timedelta(seconds=lease_s)
        return ClaimOutcome.CLAIMED

    async def renew(self, tenant: str, key: StageKey, *, owner: str, lease_s: float, now: datetime) -> bool:
        """See `StageLedger.renew`."""
        self._enter("renew")
        row = self._row(tenant, key)
        if row.state is not StageState.RUNNING or row.owner != owner:
            return False
        row.until = now + timedelta(seconds=lease_s)
        return True

    async def may_write(self, tenant: str, document: UUID, generation: int) -> bool:
        """See `StageLedger.may_write`."""
        self._enter("may_write")
        return not self._is_fenced(tenant, document, generation)

    async def finish(self, tenant: str, key: StageKey, *, owner: str, now: datetime) -> FinishOutcome:  # noqa: ARG002 - the port
        """See `StageLedger.finish`. It does not know which stage is the last, so it says so of each."""
        self._enter("finish")
        if self._is_fenced(tenant, key.document, key.generation):
            return FinishOutcome.FENCED
        self._row(tenant, key).state = StageState.FINISHED
        return FinishOutcome.SETTLED

    async def release(self, tenant: str, key: StageKey, *, owner: str, failure: Failure | None, now: datetime) -> None:  # noqa: ARG002 - the port
        """See `StageLedger.release`."""
        self._enter("release")
        self.releases.append((key, failure))
        row = self._row(tenant, key)
        if row.state is StageState.RUNNING and row.owner == owner:
            row.state, row.owner, row.until = StageState.WAITING, "", None

    async def exhaust(self, tenant: str, key: StageKey, failure: Failure) -> None:
        """See `StageLedger.exhaust`."""
        self._enter("exhaust")
        row = self._row(tenant, key)
        if row.state is StageState.EXHAUSTED or self._is_fenced(tenant, key.document, key.generation):
            return
        row.state = StageState.EXHAUSTED
        self.dead_letters.append((key, failure))

    async def stage_outcomes(self, tenant: str, document: UUID, generation: int) -> Mapping[Stage, ClaimOutcome]:
        """See `StageLedger.stage_outcomes`."""
        self._enter("stage_outcomes")
        rows = {
            key.stage: row.state
            for (of, key), row in self._rows.items()
            if (of, key.document, key.generation) == (tenant, document, generation)
        }
        return {stage: _ENDED[state] for stage, state in rows.items() if state in _ENDED}

    async def record_poison(self, tenant: str, *, group: str, failure: Failure, event_id: str, document: UUID | None) -> None:
        """See `StageLedger.record_poison`."""
        self._enter("record_poison")
        self.poison.append((tenant, group, failure, event_id, document))

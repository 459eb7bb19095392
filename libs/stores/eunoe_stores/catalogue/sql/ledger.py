"""The stage ledger: claims, fence, ends. Structurally also `eunoe_stream.ledger.StageLedger`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from eunoe_contracts.stages import ClaimOutcome, DocumentStatus, FinishOutcome, Stage, StageState
from sqlalchemy import Connection, bindparam, func, select, true, update

from eunoe_stores.catalogue.sql import ledger_rows
from eunoe_stores.catalogue.sql.dead_letter_rows import write_exhausted, write_poison
from eunoe_stores.catalogue.sql.ledger_state import FailureLike, Ledger, StageKeyLike
from eunoe_stores.catalogue.sql.part import SqlPart
from eunoe_stores.catalogue.sql.prepared import apply, fetch
from eunoe_stores.catalogue.sql.together import Together
from eunoe_stores.catalogue.tables import documents, stages
from eunoe_stores.sqlite.port import Database

FENCES = select(documents.c.tenant, documents.c.id, documents.c.generation, documents.c.status).where(
    documents.c.id.in_(bindparam("ids", expanding=True))
)
OUTCOMES = select(stages.c.stage, stages.c.state).where(
    stages.c.document == bindparam("document"),
    stages.c.tenant == bindparam("of_tenant"),
    stages.c.generation == bindparam("of_generation"),
    stages.c.state.in_([StageState.FINISHED.value, StageState.EXHAUSTED.value]),
)
_running = (
    stages.c.state == StageState.RUNNING.value,
    stages.c.document.in_(select(documents.c.id).where(documents.c.is_open == true())),
)
COUNT_RUNNING = select(func.count()).select_from(stages).where(*_running)
TOUCH_RUNNING = (
    update(documents)
    .where(documents.c.is_open == true(), documents.c.id.in_(select(stages.c.document).where(*_running)))
    .values(revision=documents.c.revision + 1)
)
RELEASE_RUNNING = (
    update(stages).where(*_running).values(state=StageState.WAITING.value, owner="", lease_until=None, updated_at=bindparam("released_at"))
)


@dataclass(frozen=True, slots=True)
class Step:
    """A change of one stage. `apply` gets the ledger, unless it is fenced or unknown: then `fenced` is the result."""

    tenant: str
    key: StageKeyLike
    apply: Callable[[Ledger, Connection], Any]
    fenced: Any


@dataclass(frozen=True, slots=True)
class Fence:
    """A question whether a generation may still be written."""

    tenant: str
    document: UUID
    generation: int


class SqlLedger(SqlPart):
    """`LedgerCatalogue` and the runner's `StageLedger`."""

    def __init__(self, database: Database, *, watch_interval_s: float = 0.5) -> None:
        super().__init__(database, watch_interval_s=watch_interval_s)
        self._steps: Together[Step] = Together(partial(database.write, durable=False, quick=True), _take_steps)
        self._fences: Together[Fence] = Together(partial(database.read, quick=True), _check_fences)

    async def claim(self, tenant: str, key: StageKeyLike, *, owner: str, lease_s: float, now: datetime) -> ClaimOutcome:
        """See `StageLedger.claim`. A lease further away than two of its lengths counts as expired (the clock was set back)."""

        def apply(ledger: Ledger, _connection: Connection) -> ClaimOutcome:
            return ledger.claim(key.stage, owner=owner, lease_s=lease_s, now=now)

        outcome: ClaimOutcome = await self._step(Step(tenant, key, apply, ClaimOutcome.FENCED))
        return outcome

    async def renew(self, tenant: str, key: StageKeyLike, *, owner: str, lease_s: float, now: datetime) -> bool:
        """See `StageLedger.renew`; false when fenced, too."""

        def apply(ledger: Ledger, _connection: Connection) -> bool:
            return ledger.renew(key.stage, owner=owner, lease_s=lease_s, now=now)

        return bool(await self._steps.call(Step(tenant, key, apply, fenced=False)))

    async def may_write(self, tenant: str, document: UUID, generation: int) -> bool:
        """See `StageLedger.may_write`. A done generation may be written, so that a replay can upgrade it."""
        return bool(await self._fences.call(Fence(tenant, document, generation)))

    async def finish(self, tenant: str, key: StageKeyLike, *, owner: str, now: datetime) -> FinishOutcome:  # noqa: ARG002 - the port names it
        """See `StageLedger.finish`. The owner is not compared: whoever ran the stage, its effects are there."""

        def apply(ledger: Ledger, _connection: Connection) -> FinishOutcome:
            return ledger.finish(key.stage, now=now)

        outcome: FinishOutcome = await self._step(Step(tenant, key, apply, FinishOutcome.FENCED))
        return outcome

    async def release(self, tenant: str, key: StageKeyLike, *, owner: str, failure: FailureLike | None, now: datetime) -> None:
        """See `StageLedger.release`. Nothing when another owner has it."""

        def apply(ledger: Ledger, _connection: Connection) -> None:
            ledger.release(key.stage, owner=owner, failure=failure, now=now)

        await self._step(Step(tenant, key, apply, None))

    async def exhaust(self, tenant: str, key: StageKeyLike, failure: FailureLike) -> None:
        """See `StageLedger.exhaust`. Nothing when the stage is finished, either."""

        def apply(ledger: Ledger, connection: Connection) -> None:
            if ledger.exhaust(key.stage, failure):
                write_exhausted(connection, tenant, key, failure)

        await self._step(Step(tenant, key, apply, None))

    async def record_poison(self, tenant: str, *, group: str, failure: FailureLike, event_id: str, document: UUID | None) -> None:
        """See `StageLedger.record_poison`. The same record of the same group gives one dead letter."""
        await self._database.write(
            lambda connection: write_poison(connection, tenant, group=group, failure=failure, event_id=event_id, document=document)
        )

    async def release_claims(self, *, now: datetime) -> int:
        """See `LedgerCatalogue.release_claims`."""

        def work(connection: Connection) -> int:
            count = int(connection.execute(COUNT_RUNNING).scalar_one())
            if count:
                connection.execute(TOUCH_RUNNING).close()
                apply(connection, RELEASE_RUNNING, {"released_at": now})
            return count

        return await self._database.write(work)

    async def repeat_projections(self, tenant: str, document: UUID, generation: int, *, limit: int, now: datetime) -> bool:
        """See `LedgerCatalogue.repeat_projections`."""

        def work(connection: Connection) -> bool:
            ledgers = ledger_rows.load(connection, [(tenant, document)])
            ledger = ledgers.get((tenant, document))
            if ledger is None or ledger.generation != generation or not ledger.repeat_projections(limit=limit, now=now):
                return False
            ledger_rows.store(connection, ledgers)
            return True

        repeated = await self._database.write(work)
        self._changes.tell(tenant, document)
        return repeated

    async def stage_outcomes(self, tenant: str, document: UUID, generation: int) -> Mapping[Stage, ClaimOutcome]:
        """See `LedgerCatalogue.stage_outcomes`."""
        parameters = {"document": document, "of_tenant": tenant, "of_generation": generation}
        return await self._database.read(
            lambda connection: {Stage(row.stage): ClaimOutcome(row.state) for row in fetch(connection, OUTCOMES, parameters)}
        )

    async def _step(self, step: Step) -> Any:
        result = await self._steps.call(step)
        self._changes.tell(step.tenant, step.key.document)
        return result


def _take_steps(connection: Connection, steps: Sequence[Step]) -> list[Any]:
    ledgers = ledger_rows.load(connection, ((step.tenant, step.key.document) for step in steps))
    results = []
    for step in steps:
        ledger = ledgers.get((step.tenant, step.key.document))
        fenced = ledger is None or ledger.is_fenced(step.key.generation)
        results.append(step.fenced if ledger is None or fenced else step.apply(ledger, connection))
    ledger_rows.store(connection, ledgers)
    return results


def _check_fences(connection: Connection, fences: Sequence[Fence]) -> list[bool]:
    ids = list({fence.document for fence in fences})
    current = {
        (tenant, document): Ledger(0, generation, DocumentStatus(status))
        for tenant, document, generation, status in fetch(connection, FENCES, {"ids": ids})
    }
    ledgers = (current.get((fence.tenant, fence.document)) for fence in fences)
    return [ledger is not None and not ledger.is_fenced(fence.generation) for fence, ledger in zip(fences, ledgers, strict=True)]

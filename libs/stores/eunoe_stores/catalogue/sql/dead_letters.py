"""Dead letters: lists and replay."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from eunoe_contracts.errors import DeadLetterNotFound, StaleGeneration
from eunoe_contracts.stages import DocumentStatus, Stage
from sqlalchemy import ColumnElement, Connection, func, select, update

from eunoe_stores.catalogue.rows import DeadLetterQuery, DeadLetterRow, Page, Reopened
from eunoe_stores.catalogue.sql import ledger_rows
from eunoe_stores.catalogue.sql.locks import lock_document_of_letter
from eunoe_stores.catalogue.sql.part import SqlPart
from eunoe_stores.catalogue.tables import dead_letters, documents

_STAGES = frozenset(stage.value for stage in Stage)
_NO_REPLAY = frozenset({DocumentStatus.ERASED, DocumentStatus.CANCELLED})


class SqlDeadLetters(SqlPart):
    """`DeadLetterCatalogue`."""

    async def dead_letters(self, tenant: str | None, query: DeadLetterQuery, page: Page) -> tuple[Sequence[DeadLetterRow], int]:
        """See `DeadLetterCatalogue.dead_letters`. `since` is inclusive, `until` is not."""
        conditions = _conditions(tenant, query)
        rows = (
            select(dead_letters)
            .where(*conditions)
            .order_by(dead_letters.c.last_failed_at.desc(), dead_letters.c.id)
            .limit(page.limit)
            .offset(page.offset)
        )

        def work(connection: Connection) -> tuple[list[DeadLetterRow], int]:
            total = connection.execute(select(func.count()).select_from(dead_letters).where(*conditions)).scalar_one()
            return [DeadLetterRow(**row) for row in connection.execute(rows).mappings()], int(total)

        return await self._database.read(work)

    async def reopen(self, tenant: str, dead_letter: UUID, *, now: datetime) -> Reopened | None:
        """See `DeadLetterCatalogue.reopen`. None also for a record without a stage: there is nothing that could run again."""
        this = select(dead_letters).where(dead_letters.c.id == dead_letter, dead_letters.c.tenant == tenant)

        def work(connection: Connection) -> Reopened | None:
            lock_document_of_letter(connection, dead_letter)
            row = connection.execute(this.with_for_update()).mappings().first()
            if row is None:
                raise DeadLetterNotFound
            document = row["document"]
            if row["replayed_at"] is not None or document is None or row["stage"] not in _STAGES:
                return None
            key = (tenant, document)
            ledger = ledger_rows.load(connection, [key]).get(key)
            if ledger is None or ledger.generation != row["generation"] or ledger.status in _NO_REPLAY:
                raise StaleGeneration
            stage = Stage(row["stage"])
            ledger.reopen(stage, now=now)
            ledger_rows.store(connection, {key: ledger})
            connection.execute(
                update(documents)
                .where(documents.c.sequence == ledger.sequence)
                .values(error_code="", error_message="", degraded=[], published=True)
            ).close()
            replays = row["replays"] + 1
            connection.execute(
                update(dead_letters).where(dead_letters.c.id == dead_letter).values(replayed_at=now, replays=replays)
            ).close()
            return Reopened(tenant, document, ledger.generation, stage, f"replay-{replays}")

        reopened = await self._database.write(work)
        if reopened is not None:
            self._queue_room.spend()
            self._changes.tell(tenant, reopened.document)
        return reopened


def _conditions(tenant: str | None, query: DeadLetterQuery) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if tenant is not None:
        conditions.append(dead_letters.c.tenant == tenant)
    if query.id is not None:
        conditions.append(dead_letters.c.id == query.id)
    if query.code:
        conditions.append(dead_letters.c.code == query.code)
    if query.document is not None:
        conditions.append(dead_letters.c.document == query.document)
    if query.since is not None:
        conditions.append(dead_letters.c.last_failed_at >= query.since)
    if query.until is not None:
        conditions.append(dead_letters.c.last_failed_at < query.until)
    if not query.include_replayed:
        conditions.append(dead_letters.c.replayed_at.is_(None))
    return conditions

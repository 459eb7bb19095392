"""The erasure fence, its proof, and cancelling."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol, runtime_checkable
from uuid import UUID

from eunoe_contracts.stages import DocumentStatus
from sqlalchemy import BindParameter, Connection, bindparam, delete, insert, select, update

from eunoe_stores.catalogue.rows import DocumentRow, Erasure
from eunoe_stores.catalogue.sql.document_changes import change, row_for_change
from eunoe_stores.catalogue.sql.documents import read_document
from eunoe_stores.catalogue.sql.locks import lock_documents
from eunoe_stores.catalogue.sql.memory_rows import bury_held_by
from eunoe_stores.catalogue.sql.part import SqlPart
from eunoe_stores.catalogue.tables import dead_letters, documents, erasures, memories, memory_sources, stages, units
from eunoe_stores.sqlite.old_pages import drop_old_pages

BLANK: dict[str, Any] = {
    **dict.fromkeys(("name", "name_key", "title", "title_key", "custom_id", "sha256", "blob", "fingerprint", "session"), ""),
    **dict.fromkeys(("source_url", "error_message"), ""),
    "size": 0,
    "metadata": {},
    "tags": [],
    "warnings": [],
    "counts": {},
    "position": None,
    "event_time": None,
    "is_open": False,
    "status": DocumentStatus.ERASED.value,
}
"""What a tombstone holds in place of what could tell content. The fingerprint goes too: it is a hash of the content."""

_of_document: BindParameter[UUID] = bindparam("of_document")
_of_tenant: BindParameter[str] = bindparam("of_tenant")
BLANK_LETTERS = (
    update(dead_letters)
    .where(dead_letters.c.document == _of_document, dead_letters.c.tenant == _of_tenant)
    .values(message="", document_name="")
)
BLANK_STAGES = update(stages).where(stages.c.document == _of_document, stages.c.tenant == _of_tenant).values(message="")
BLANK_SOURCES = (
    update(memory_sources)
    .where(memory_sources.c.document == _of_document, memory_sources.c.tenant == _of_tenant)
    .values(span="", entities=[])
)
CLOSE_CANCELLED = (
    update(documents)
    .where(
        documents.c.id == _of_document,
        documents.c.tenant == _of_tenant,
        documents.c.generation == bindparam("of_generation"),
        documents.c.status == DocumentStatus.CANCELLED.value,
    )
    .values(is_open=False)
)
DROP_STAGES = delete(stages).where(
    stages.c.document == _of_document, stages.c.tenant == _of_tenant, stages.c.generation <= bindparam("through")
)
DROP_LETTERS = delete(dead_letters).where(
    dead_letters.c.document == _of_document, dead_letters.c.tenant == _of_tenant, dead_letters.c.generation <= bindparam("through")
)
_replaced = select(documents.c.id).where(
    documents.c.id == _of_document,
    documents.c.tenant == _of_tenant,
    documents.c.generation > dead_letters.c.generation,
    documents.c.status == DocumentStatus.DONE.value,
)
DROP_REPLACED_LETTERS = DROP_LETTERS.where(_replaced.exists())
PENDING = (
    select(erasures)
    .where(erasures.c.completed_at.is_(None), erasures.c.requested_at < bindparam("before"))
    .order_by(erasures.c.requested_at)
    .limit(bindparam("at_most"))
)
PROVE = (
    update(erasures)
    .where(
        erasures.c.document == _of_document,
        erasures.c.tenant == _of_tenant,
        erasures.c.generation == bindparam("of_generation"),
        erasures.c.completed_at.is_(None),
    )
    .values(completed_at=bindparam("proved_at"))
)


WITH_CONTENT = tuple(table.name for table in (documents, units, memories, memory_sources, stages, dead_letters))


@runtime_checkable
class KeepsOldVersions(Protocol):
    """A database that keeps what was deleted or overwritten in its tables, until it is told to drop it."""

    async def drop_old_versions(self, tables: Sequence[str]) -> bool:
        """False when somebody may still look at it; then try again later."""
        ...


class SqlErasures(SqlPart):
    """`ErasureCatalogue`."""

    async def erase(self, tenant: str, document: UUID, *, now: datetime) -> Erasure | None:
        """See `ErasureCatalogue.erase`. Memories go here, not later: the id may be accepted again at once."""

        def work(connection: Connection) -> Erasure | None:
            row = row_for_change(connection, tenant, document)
            if row is None or row["status"] == DocumentStatus.ERASED:
                return None
            change(connection, row["sequence"], {**BLANK, "updated_at": now})
            parameters = {"of_tenant": tenant, "of_document": document}
            connection.execute(BLANK_LETTERS, parameters).close()
            connection.execute(BLANK_STAGES, parameters).close()
            connection.execute(BLANK_SOURCES, parameters).close()
            bury_held_by(connection, tenant, document, row["generation"])
            erasure = Erasure(tenant, document, row["generation"], now, None)
            values = {"tenant": tenant, "document": document, "generation": erasure.generation, "requested_at": now}
            connection.execute(insert(erasures), values).close()
            return erasure

        erasure = await self._database.write(work)
        self._changes.tell(tenant, document)
        return erasure

    async def cancel(self, tenant: str, document: UUID, *, now: datetime) -> DocumentRow | None:
        """See `ErasureCatalogue.cancel`."""

        def work(connection: Connection) -> DocumentRow | None:
            row = row_for_change(connection, tenant, document)
            if row is None or DocumentStatus(row["status"]).is_end:
                return None
            change(connection, row["sequence"], {"status": DocumentStatus.CANCELLED.value, "updated_at": now})
            return read_document(connection, tenant=tenant, document=document)

        cancelled = await self._database.write(work)
        self._changes.tell(tenant, document)
        return cancelled

    async def close_cancelled(self, tenant: str, document: UUID, generation: int) -> None:
        """See `ErasureCatalogue.close_cancelled`."""

        def work(connection: Connection) -> None:
            closed = connection.execute(CLOSE_CANCELLED, {"of_tenant": tenant, "of_document": document, "of_generation": generation})
            if closed.rowcount:
                connection.execute(DROP_LETTERS, {"of_tenant": tenant, "of_document": document, "through": generation}).close()

        await self._database.write(work)

    async def pending_erasures(self, *, requested_before: datetime, limit: int) -> Sequence[Erasure]:
        """See `ErasureCatalogue.pending_erasures`; the oldest first."""
        parameters = {"before": requested_before, "at_most": limit}
        return await self._database.read(lambda connection: [Erasure(**row) for row in connection.execute(PENDING, parameters).mappings()])

    async def purge(self) -> bool:
        """See `ErasureCatalogue.purge`. Of PostgreSQL's files only as much as ADR 11 says."""
        if isinstance(self._database, KeepsOldVersions):
            return await self._database.drop_old_versions(WITH_CONTENT)
        return await drop_old_pages(self._database)

    async def prove_erasure(self, tenant: str, document: UUID, generation: int, *, now: datetime) -> None:
        """See `ErasureCatalogue.prove_erasure`. The first proof stays."""
        parameters = {"of_tenant": tenant, "of_document": document, "of_generation": generation, "proved_at": now}
        await self._database.write(lambda connection: connection.execute(PROVE, parameters).close())

    async def drop_through(self, tenant: str, document: UUID, *, through_generation: int) -> None:
        """See `ErasureCatalogue.drop_through`."""
        parameters = {"of_tenant": tenant, "of_document": document, "through": through_generation}

        def work(connection: Connection) -> None:
            lock_documents(connection, [document])
            connection.execute(DROP_STAGES, parameters).close()
            connection.execute(DROP_REPLACED_LETTERS, parameters).close()

        await self._database.write(work)

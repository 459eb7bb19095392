"""Changing documents outside the ledger: published, ends, warnings, watching."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from typing import Any
from uuid import UUID

from eunoe_contracts.errors import DocumentNotFound
from eunoe_contracts.stages import DocumentStatus
from sqlalchemy import Connection, Update, bindparam, select, true, update

from eunoe_stores.catalogue.rows import DocumentRow, End
from eunoe_stores.catalogue.sql.documents import SqlDocuments, read_document
from eunoe_stores.catalogue.sql.prepared import apply, fetch
from eunoe_stores.catalogue.sql.together import Together
from eunoe_stores.catalogue.tables import documents
from eunoe_stores.sqlite.port import Database

_IS_IT = (documents.c.id == bindparam("document"), documents.c.tenant == bindparam("of_tenant"))
_IS_GENERATION = (*_IS_IT, documents.c.generation == bindparam("of_generation"))

PUBLISHED = (
    update(documents).where(*_IS_GENERATION, documents.c.published != true()).values(published=True, revision=documents.c.revision + 1)
)
FOR_CHANGE = (
    select(
        documents.c.sequence,
        documents.c.generation,
        documents.c.status,
        documents.c.is_open,
        documents.c.degraded,
        documents.c.warnings,
        documents.c.container,
        documents.c.name,
        documents.c.revision,
    )
    .where(*_IS_IT)
    .with_for_update()
)
REVISION = select(documents.c.revision, documents.c.status).where(*_IS_IT)


def _mark_published(connection: Connection, parameters: Sequence[dict[str, Any]]) -> list[None]:
    # In one order, so that two batches that name the same documents do not wait for each other.
    apply(connection, PUBLISHED, sorted(parameters, key=lambda each: (each["document"], each["of_tenant"])))
    return [None] * len(parameters)


class SqlDocumentChanges(SqlDocuments):
    """The rest of `DocumentCatalogue`."""

    def __init__(self, database: Database, *, watch_interval_s: float = 0.5) -> None:
        super().__init__(database, watch_interval_s=watch_interval_s)
        self._published: Together[dict[str, Any]] = Together(partial(database.write, durable=False, quick=True), _mark_published)

    async def mark_published(self, tenant: str, document: UUID, generation: int) -> None:
        """See `DocumentCatalogue.mark_published`."""
        await self._published.call({"document": document, "of_tenant": tenant, "of_generation": generation})
        self._changes.tell(tenant, document)

    async def set_end(self, tenant: str, document: UUID, generation: int, end: End, *, now: datetime, revision: int | None = None) -> bool:
        """See `DocumentCatalogue.set_end`."""
        values = {
            "status": end.status.value,
            "is_open": False,
            "error_code": end.code,
            "error_message": end.message,
            "degraded": list(end.degraded),
            "counts": dict(end.counts),
            "updated_at": now,
        }

        def work(connection: Connection) -> bool:
            row = row_for_change(connection, tenant, document)
            if row is None or row["generation"] != generation or not _may_end(row, end):
                return False
            if revision is not None and row["revision"] != revision:
                return False
            change(connection, row["sequence"], values)
            return True

        changed = await self._database.write(work, durable=False, quick=True)
        self._changes.tell(tenant, document)
        return changed

    async def add_warnings(self, tenant: str, document: UUID, generation: int, warnings: Sequence[str]) -> None:
        """See `DocumentCatalogue.add_warnings`."""

        def work(connection: Connection) -> None:
            row = row_for_change(connection, tenant, document)
            if row is None or row["generation"] != generation or row["status"] == DocumentStatus.ERASED:
                return
            fresh = [warning for warning in dict.fromkeys(warnings) if warning not in row["warnings"]]
            if fresh:
                change(connection, row["sequence"], {"warnings": [*row["warnings"], *fresh]})

        await self._database.write(work, durable=False, quick=True)
        self._changes.tell(tenant, document)

    async def watch(self, tenant: str, document: UUID, *, since: int) -> AsyncIterator[DocumentRow]:
        """See `DocumentCatalogue.watch`. Changes of this process are seen at once, those of others at the next poll."""
        seen = since
        with self._changes.watching(tenant, document) as changed:
            while True:
                changed.clear()
                revision, ended = await self._database.read(lambda connection: _revision(connection, tenant, document), quick=True)
                if revision > seen:
                    row = await self._database.read(
                        lambda connection: read_document(connection, tenant=tenant, document=document), quick=True
                    )
                    if row is None:
                        raise DocumentNotFound
                    seen, ended = row.revision, row.status.is_end
                    yield row
                if ended:
                    return
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), self._watch_interval_s)


def row_for_change(connection: Connection, tenant: str, document: UUID) -> dict[str, Any] | None:
    """The row, locked until the transaction ends, with what a change must look at; tombstones too."""
    return fetch(connection, FOR_CHANGE, {"document": document, "of_tenant": tenant}).mapping()


def change(connection: Connection, sequence: int, values: Mapping[str, Any]) -> None:
    """Set columns and raise the revision."""
    parameters = {f"new_{name}": value for name, value in values.items()}
    apply(connection, _change(tuple(values)), {"of_sequence": sequence, **parameters})


@cache
def _change(names: tuple[str, ...]) -> Update:
    # Building a statement costs more than running it; there are only a few sets of names.
    values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in names}
    return (
        update(documents).where(documents.c.sequence == bindparam("of_sequence")).values({**values, "revision": documents.c.revision + 1})
    )


def _may_end(row: Mapping[str, Any], end: End) -> bool:
    if not DocumentStatus(row["status"]).is_end:
        return True
    # A replayed optional stage makes a done document better; it never makes one worse.
    both_done = row["status"] == DocumentStatus.DONE and end.status is DocumentStatus.DONE
    return both_done and set(end.degraded) < set(row["degraded"])


def _revision(connection: Connection, tenant: str, document: UUID) -> tuple[int, bool]:
    row = fetch(connection, REVISION, {"document": document, "of_tenant": tenant}).first()
    if row is None or row.status == DocumentStatus.ERASED:
        raise DocumentNotFound
    return row.revision, DocumentStatus(row.status).is_end

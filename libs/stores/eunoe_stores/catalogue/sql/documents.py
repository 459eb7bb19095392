"""Reading documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias
from uuid import UUID

from eunoe_contracts.stages import DocumentStatus
from sqlalchemy import ColumnElement, Connection, bindparam, func, or_, select, true

from eunoe_stores.catalogue.rows import DocumentQuery, DocumentRow, OpenDocument, Page
from eunoe_stores.catalogue.sql import document_rows
from eunoe_stores.catalogue.sql.part import SqlPart
from eunoe_stores.catalogue.sql.prepared import fetch
from eunoe_stores.catalogue.sql.queue_room import COUNT_OPEN
from eunoe_stores.catalogue.sql.together import Together, chunks
from eunoe_stores.catalogue.tables import documents, stages
from eunoe_stores.sqlite.port import Database

DocumentKey: TypeAlias = tuple[str, UUID]
"""Tenant and document."""

NOT_ERASED = documents.c.status != DocumentStatus.ERASED.value
IN_WORK = (documents.c.is_open == true()) & (documents.c.status != DocumentStatus.CANCELLED.value)
"""A cancelled document stays open for the sweeper until its rows are withdrawn."""

READABLE = IN_WORK | (documents.c.status == DocumentStatus.DONE.value)

ONE = document_rows.SELECT.where(documents.c.id == bindparam("document"), documents.c.tenant == bindparam("of_tenant"), NOT_ERASED)
LEDGER = document_rows.SELECT_STAGES.where(
    stages.c.document == bindparam("document"), stages.c.tenant == bindparam("of_tenant"), stages.c.generation == bindparam("of_generation")
)
LEDGERS = document_rows.SELECT_STAGES.where(
    stages.c.document.in_(bindparam("ids", expanding=True)), stages.c.tenant == bindparam("of_tenant")
)
MANY = document_rows.SELECT.where(
    documents.c.id.in_(bindparam("ids", expanding=True)), documents.c.tenant == bindparam("of_tenant"), NOT_ERASED
)
BY_TITLE = (
    select(documents.c.id, documents.c.name_key, documents.c.title_key)
    .where(
        documents.c.tenant == bindparam("of_tenant"),
        documents.c.container == bindparam("in_container"),
        READABLE,
        or_(documents.c.name_key.in_(bindparam("keys", expanding=True)), documents.c.title_key.in_(bindparam("keys", expanding=True))),
    )
    .order_by(documents.c.sequence)
)
_this = documents.alias("this")
OLDER_VERSIONS = (
    select(documents.c.id)
    .join(
        _this,
        (_this.c.tenant == documents.c.tenant)
        & (_this.c.container == documents.c.container)
        & (_this.c.custom_id == documents.c.custom_id)
        & (_this.c.sequence > documents.c.sequence),
    )
    .where(_this.c.id == bindparam("document"), _this.c.tenant == bindparam("of_tenant"), documents.c.custom_id != "", NOT_ERASED)
    .order_by(documents.c.sequence)
)
NEWER_VERSION = (
    select(_this.c.id)
    .join(
        documents,
        (_this.c.tenant == documents.c.tenant)
        & (_this.c.container == documents.c.container)
        & (_this.c.custom_id == documents.c.custom_id)
        & (_this.c.sequence < documents.c.sequence),
    )
    .where(_this.c.id == bindparam("document"), _this.c.tenant == bindparam("of_tenant"), documents.c.custom_id != "", NOT_ERASED)
    .limit(1)
)
OPEN = (
    select(documents.c.tenant, documents.c.id, documents.c.generation, documents.c.published, documents.c.updated_at)
    .where(documents.c.is_open == true(), documents.c.updated_at < bindparam("since"))
    .order_by(documents.c.updated_at)
    .limit(bindparam("at_most"))
)
IN_CONTAINER = (
    select(documents.c.id)
    .where(documents.c.tenant == bindparam("of_tenant"), documents.c.container == bindparam("in_container"), NOT_ERASED)
    .order_by(documents.c.sequence)
)


class SqlDocuments(SqlPart):
    """The reading half of `DocumentCatalogue`."""

    def __init__(self, database: Database, *, watch_interval_s: float = 0.5) -> None:
        super().__init__(database, watch_interval_s=watch_interval_s)
        self._asked: Together[DocumentKey] = Together(partial(database.read, quick=True), read_documents)

    async def document(self, tenant: str, document: UUID) -> DocumentRow | None:
        """See `DocumentCatalogue.document`."""
        found: DocumentRow | None = await self._asked.call((tenant, document))
        return found

    async def documents_by_id(self, tenant: str, documents: Sequence[UUID]) -> Mapping[UUID, DocumentRow]:
        """See `DocumentCatalogue.documents_by_id`."""
        if not documents:
            return {}

        def work(connection: Connection) -> dict[UUID, DocumentRow]:
            rows = fetch(connection, MANY, {"ids": list(documents), "of_tenant": tenant}).mappings()
            return {row["id"]: document_rows.document_row(row) for row in rows}

        return await self._database.read(work, quick=True)

    async def documents_by_title(self, tenant: str, container: str, titles: Sequence[str]) -> Mapping[str, UUID]:
        """See `DocumentCatalogue.documents_by_title`. Of several documents the one accepted last."""
        keys = {title: document_rows.title_key(title) for title in titles}
        wanted = sorted({key for key in keys.values() if key})
        if not wanted:
            return {}

        def work(connection: Connection) -> dict[str, UUID]:
            found: dict[str, UUID] = {}
            for row in fetch(connection, BY_TITLE, {"of_tenant": tenant, "in_container": container, "keys": wanted}):
                found[row.name_key] = row.id
                found[row.title_key] = row.id
            return {title: found[key] for title, key in keys.items() if key and key in found}

        return await self._database.read(work)

    async def list_documents(self, tenant: str, query: DocumentQuery, page: Page) -> tuple[Sequence[DocumentRow], int]:
        """See `DocumentCatalogue.list_documents`. The rows come without their ledgers."""
        conditions: list[ColumnElement[bool]] = [documents.c.tenant == tenant, NOT_ERASED]
        if query.container:
            conditions.append(documents.c.container == query.container)
        if query.status:
            conditions.append(documents.c.status == query.status)
        if query.custom_id:
            conditions.append(documents.c.custom_id == query.custom_id)
        order: ColumnElement[Any] = documents.c.sequence.desc()
        if query.after is not None:
            conditions.append(documents.c.sequence > query.after)
            order = documents.c.sequence.asc()
        rows = document_rows.SELECT.where(*conditions).order_by(order).limit(page.limit).offset(page.offset)

        def work(connection: Connection) -> tuple[list[DocumentRow], int]:
            total = connection.execute(select(func.count()).select_from(documents).where(*conditions)).scalar_one()
            found = [document_rows.document_row(row) for row in connection.execute(rows).mappings()]
            return found, int(total)

        return await self._database.read(work)

    async def older_versions(self, tenant: str, document: UUID) -> Sequence[UUID]:
        """See `DocumentCatalogue.older_versions`."""
        parameters = {"document": document, "of_tenant": tenant}
        return await self._database.read(lambda connection: fetch(connection, OLDER_VERSIONS, parameters).scalars(), quick=True)

    async def is_superseded(self, tenant: str, document: UUID) -> bool:
        """See `DocumentCatalogue.is_superseded`."""
        parameters = {"document": document, "of_tenant": tenant}
        return await self._database.read(lambda connection: fetch(connection, NEWER_VERSION, parameters).first() is not None, quick=True)

    async def open_documents(self, *, not_updated_since: datetime, limit: int) -> Sequence[OpenDocument]:
        """See `DocumentCatalogue.open_documents`."""
        parameters = {"since": not_updated_since, "at_most": limit}
        return await self._database.read(lambda connection: [OpenDocument(*row) for row in fetch(connection, OPEN, parameters)])

    async def count_open(self) -> int:
        """See `DocumentCatalogue.count_open`."""
        return await self._database.read(lambda connection: int(connection.execute(COUNT_OPEN).scalar_one()))

    async def documents_in(self, tenant: str, container: str) -> Sequence[UUID]:
        """See `ContainerCatalogue.documents_in`."""
        parameters = {"of_tenant": tenant, "in_container": container}
        return await self._database.read(lambda connection: fetch(connection, IN_CONTAINER, parameters).scalars())


def read_documents(connection: Connection, keys: Sequence[DocumentKey]) -> list[DocumentRow | None]:
    """Current generations with their ledgers, in the order asked for; None for an unknown or erased one."""
    found: dict[DocumentKey, DocumentRow] = {}
    for tenant in {tenant for tenant, _ in keys}:
        for ids in chunks(document for of_tenant, document in keys if of_tenant == tenant):
            parameters = {"ids": ids, "of_tenant": tenant}
            ledgers: dict[tuple[UUID, int], list[Any]] = defaultdict(list)
            for entry in fetch(connection, LEDGERS, parameters):
                ledgers[entry.document, entry.generation].append(entry)
            for row in fetch(connection, MANY, parameters).mappings():
                ledger = document_rows.ledger_rows(ledgers[row["id"], row["generation"]])
                found[tenant, row["id"]] = document_rows.document_row(row, ledger)
    return [found.get(key) for key in keys]


def read_document(connection: Connection, *, tenant: str, document: UUID) -> DocumentRow | None:
    """The current generation with its ledger, in the transaction given; None when unknown or erased."""
    row = fetch(connection, ONE, {"document": document, "of_tenant": tenant}).mapping()
    if row is None:
        return None
    parameters = {"document": document, "of_tenant": tenant, "of_generation": row["generation"]}
    return document_rows.document_row(row, document_rows.ledger_rows(fetch(connection, LEDGER, parameters)))

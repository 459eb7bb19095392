"""What is to be removed though it was never accepted: a fence against an acceptance that is still under way, on whatever machine."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from eunoe_contracts.errors import StaleGeneration
from eunoe_contracts.stages import DocumentStatus
from sqlalchemy import Connection, insert
from sqlalchemy.exc import IntegrityError

from eunoe_stores.catalogue.rows import NewDocument
from eunoe_stores.catalogue.sql.document_changes import change, row_for_change
from eunoe_stores.catalogue.sql.document_rows import accepted_values
from eunoe_stores.catalogue.sql.erasures import BLANK
from eunoe_stores.catalogue.sql.part import SqlPart
from eunoe_stores.catalogue.sql.prepared import insert_numbered
from eunoe_stores.catalogue.tables import documents

INSERT = insert(documents)


class SqlUnaccepted(SqlPart):
    """The part of `ErasureCatalogue` that is about documents without a row."""

    async def bury_unaccepted(self, tenant: str, document: UUID, *, generation: int, now: datetime) -> bool:
        """See `ErasureCatalogue.bury_unaccepted`."""

        def work(connection: Connection) -> bool:
            row = row_for_change(connection, tenant, document)
            if row is None:
                _insert_tombstone(connection, tenant, document, generation, now)
                return True
            if row["status"] != DocumentStatus.ERASED:
                return False
            if row["generation"] < generation:
                change(connection, row["sequence"], {"generation": generation, "updated_at": now})
            return True

        try:
            return await self._database.write(work)
        except StaleGeneration:  # accepted at the same moment, so it is none of ours any more
            return False


def _insert_tombstone(connection: Connection, tenant: str, document: UUID, generation: int, now: datetime) -> None:
    blank = NewDocument(document, "", "", "", "", 0, "", "", "")
    values = accepted_values(tenant, blank, generation=generation, revision=1, created_at=now, now=now)
    try:
        insert_numbered(connection, INSERT, {**values, **BLANK, "published": True})
    except IntegrityError:
        raise StaleGeneration from None

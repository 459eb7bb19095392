"""Edits whose event is not on the log yet: the outbox, written in the transaction of the edit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from eunoe_stores.catalogue.rows import Edit
from eunoe_stores.catalogue.sql.part import SqlPart
from eunoe_stores.catalogue.sql.prepared import apply
from eunoe_stores.catalogue.tables import unpublished_edits

_this = unpublished_edits.c.memory == bindparam("of_memory"), unpublished_edits.c.tenant == bindparam("of_tenant")
AGAIN = update(unpublished_edits).where(*_this).values(deleted=bindparam("now_deleted"), edited_at=bindparam("at"))
ADD = insert(unpublished_edits)
PUBLISHED = delete(unpublished_edits).where(*_this, unpublished_edits.c.edited_at == bindparam("at"))
COLUMNS = (
    unpublished_edits.c.tenant,
    unpublished_edits.c.container,
    unpublished_edits.c.memory,
    unpublished_edits.c.edited_at,
    unpublished_edits.c.deleted,
)
LEFT = (
    select(*COLUMNS)
    .where(unpublished_edits.c.edited_at < bindparam("before"))
    .order_by(unpublished_edits.c.edited_at, unpublished_edits.c.memory)
    .limit(bindparam("at_most"))
)


def remember(connection: Connection, edit: Edit) -> None:
    """In the transaction of the edit, which has locked its row: of two edits the later one stays."""
    this = {"of_memory": edit.memory, "of_tenant": edit.tenant}
    if not connection.execute(AGAIN, {**this, "now_deleted": edit.deleted, "at": edit.at}).rowcount:
        apply(
            connection,
            ADD,
            {
                "tenant": edit.tenant,
                "memory": edit.memory,
                "container": edit.container,
                "deleted": edit.deleted,
                "edited_at": edit.at,
            },
        )


class SqlEdits(SqlPart):
    """`EditCatalogue`."""

    async def edit_published(self, edit: Edit) -> None:
        """See `EditCatalogue.edit_published`. Not synced to the disk: forgotten, it is published once more."""
        parameters = {"of_memory": edit.memory, "of_tenant": edit.tenant, "at": edit.at}
        await self._database.write(lambda connection: apply(connection, PUBLISHED, parameters), durable=False)

    async def unpublished_edits(self, *, before: datetime, limit: int) -> Sequence[Edit]:
        """See `EditCatalogue.unpublished_edits`."""
        parameters = {"before": before, "at_most": limit}
        return await self._database.read(lambda connection: [Edit(*row) for row in connection.execute(LEFT, parameters)], quick=True)

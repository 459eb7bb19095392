"""The whole catalogue on one database."""

from __future__ import annotations

from sqlalchemy import Connection, insert, select, update

from eunoe_stores.catalogue.sql.acceptance import SqlAcceptance
from eunoe_stores.catalogue.sql.capabilities import SqlCapabilities
from eunoe_stores.catalogue.sql.containers import SqlContainers
from eunoe_stores.catalogue.sql.dead_letters import SqlDeadLetters
from eunoe_stores.catalogue.sql.document_changes import SqlDocumentChanges
from eunoe_stores.catalogue.sql.edits import SqlEdits
from eunoe_stores.catalogue.sql.erasures import SqlErasures
from eunoe_stores.catalogue.sql.leases import SqlLeases
from eunoe_stores.catalogue.sql.ledger import SqlLedger
from eunoe_stores.catalogue.sql.memories import SqlMemories
from eunoe_stores.catalogue.sql.tokens import SqlTokens
from eunoe_stores.catalogue.sql.unaccepted import SqlUnaccepted
from eunoe_stores.catalogue.sql.units import SqlUnits
from eunoe_stores.catalogue.tables import notes


class SqlCatalogue(
    SqlLedger,
    SqlAcceptance,
    SqlDocumentChanges,
    SqlUnits,
    SqlMemories,
    SqlContainers,
    SqlErasures,
    SqlUnaccepted,
    SqlDeadLetters,
    SqlTokens,
    SqlLeases,
    SqlCapabilities,
    SqlEdits,
):
    """`Catalogue`, and the runner's `StageLedger`. Run `migration.migrate` on the database first. Use it from one event loop.

    The database is shared and stays open: whoever opened it closes it. Watchers poll each `watch_interval_s` seconds, and see
    changes made through this object at once.
    """

    async def put_note(self, name: str, value: str) -> None:
        """See `Catalogue.put_note`."""

        def work(connection: Connection) -> None:
            if not connection.execute(update(notes).where(notes.c.name == name).values(value=value)).rowcount:
                connection.execute(insert(notes), {"name": name, "value": value}).close()

        await self._database.write(work)

    async def note(self, name: str) -> str | None:
        """See `Catalogue.note`."""
        statement = select(notes.c.value).where(notes.c.name == name)
        return await self._database.read(lambda connection: connection.execute(statement).scalar())

    async def close(self) -> None:
        """See `Catalogue.close`: nothing is held here."""

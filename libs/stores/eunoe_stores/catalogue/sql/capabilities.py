"""What the processes of each service can do."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from eunoe_contracts.capabilities import CapabilityReport
from sqlalchemy import Connection, delete, insert, select, update

from eunoe_stores.catalogue.sql.part import SqlPart
from eunoe_stores.catalogue.tables import capabilities

KEPT = timedelta(days=1)


class SqlCapabilities(SqlPart):
    """`CapabilityCatalogue`."""

    async def report_capabilities(self, service: str, instance: str, names: frozenset[str], *, now: datetime) -> None:
        """See `CapabilityCatalogue.report_capabilities`. Not synced to the disk: it is said again soon."""
        of_service = capabilities.c.service == service
        said = {"names": sorted(names), "seen_at": now}

        def work(connection: Connection) -> None:
            this = update(capabilities).where(of_service, capabilities.c.instance == instance).values(said)
            if not connection.execute(this).rowcount:
                connection.execute(insert(capabilities), {"service": service, "instance": instance, **said}).close()
            connection.execute(delete(capabilities).where(of_service, capabilities.c.seen_at < now - KEPT)).close()

        await self._database.write(work, durable=False)

    async def capabilities(self, service: str) -> Sequence[CapabilityReport]:
        """See `CapabilityCatalogue.capabilities`."""
        columns = capabilities.c.instance, capabilities.c.names, capabilities.c.seen_at
        statement = select(*columns).where(capabilities.c.service == service)
        statement = statement.order_by(capabilities.c.seen_at.desc(), capabilities.c.instance)

        def work(connection: Connection) -> list[CapabilityReport]:
            return [CapabilityReport(row.instance, frozenset(row.names), row.seen_at) for row in connection.execute(statement)]

        return await self._database.read(work, quick=True)

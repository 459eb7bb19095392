"""Leases among processes of one kind: who does what only one needs to do. They save work; nothing may be wrong when two have one."""

from __future__ import annotations

from datetime import datetime, timedelta

from eunoe_contracts.errors import StageBusy
from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from eunoe_stores.catalogue.sql.part import SqlPart
from eunoe_stores.catalogue.tables import notes

PREFIX = "lease:"


class SqlLeases(SqlPart):
    """`Catalogue.take_lease`, kept among the notes as owner and end."""

    async def take_lease(self, name: str, *, owner: str, lease_s: float, now: datetime) -> bool:
        """See `Catalogue.take_lease`."""
        key, mine = f"{PREFIX}{name}", f"{owner} {(now + timedelta(seconds=lease_s)).isoformat()}"

        def work(connection: Connection) -> bool:
            found = connection.execute(select(notes.c.value).where(notes.c.name == key)).scalar()
            if found is None:
                try:
                    connection.execute(insert(notes), {"name": key, "value": mine}).close()
                except IntegrityError:
                    raise StageBusy from None
                return True
            holder, _, until = found.partition(" ")
            if holder != owner and datetime.fromisoformat(until) > now:
                return False
            # Only what was read is replaced: of two who take an old lease, one does.
            taken = connection.execute(update(notes).where(notes.c.name == key, notes.c.value == found).values(value=mine))
            return taken.rowcount == 1

        try:
            return await self._database.write(work, durable=False)
        except StageBusy:
            return False

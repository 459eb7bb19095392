"""Tenants of an index file: who is loaded, and how committed changes reach the memory.

A tenant's lock keeps loading (of rows or terms) and applying apart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from eunoe_contracts.errors import InternalError
from sqlalchemy import Connection

from eunoe_stores.sqlite.connections import raw
from eunoe_stores.sqlite.port import Database
from eunoe_stores.vectors.sqlite import reads, writes
from eunoe_stores.vectors.sqlite.columns import Columns, View
from eunoe_stores.vectors.sqlite.entries import Entry
from eunoe_stores.vectors.sqlite.schema import BODY, CONTEXT
from eunoe_stores.vectors.sqlite.write_lane import Work, WriteLane
from eunoe_stores.vectors.sqlite.writes import Change

UNKNOWN = -1
"""Number of a tenant without rows: it matches nothing."""
FEW_ROWS = 200
"""Rows that reach the memory on the event loop, some ten microseconds each."""


class Tenant:
    """One tenant; `columns` is None until a query asks."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.lock = asyncio.Lock()
        self.columns: Columns | None = Columns() if number == UNKNOWN else None


class Tenants:
    """All tenants that were met since the start."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[str, Tenant] = {}
        self._writing: WriteLane[Tenant] = WriteLane(database, _apply)
        self._loading: set[asyncio.Task[View]] = set()

    async def get(self, name: str, *, create: bool) -> Tenant:
        """The tenant; without `create`, one that matches nothing when it has no rows yet."""
        known = self._known.get(name)
        if known is not None:
            return known
        if create:
            number: int | None = await self._database.write(lambda connection: writes.tenant_number(raw(connection), name))
        else:
            number = await self._database.read(lambda connection: reads.tenant_number(raw(connection), name))
        if number is None:
            return Tenant(UNKNOWN)
        return self._known.setdefault(name, Tenant(number))

    async def write(self, tenant: Tenant, work: Work | Sequence[Entry]) -> Change:
        """Commit, then bring the memory up to date; returns when queries see it."""
        return Change() if tenant.number == UNKNOWN else await self._writing.submit(tenant, tenant.number, work)

    async def settled(self) -> None:
        """Wait until every change given so far is applied (or has failed), and nothing is being loaded."""
        if self._loading:
            await asyncio.wait(set(self._loading))
        await self._writing.settled()

    async def view(self, tenant: Tenant, *, field: str, terms: Sequence[str], keys: Sequence[bytes]) -> View:
        """The tenant's rows now, loaded when needed."""
        found = tenant.columns.view(field=field, terms=terms, keys=keys) if tenant.columns is not None else None
        if found is None and tenant.columns is not None and not tenant.lock.locked():
            # Most terms that nobody has asked for yet are rare: read at once, since changes of thread take longer than they do.
            async with tenant.lock:
                await self._read_terms(tenant.columns, tenant.number, terms, reads.rare_terms, quick=True)
                found = tenant.columns.view(field=field, terms=terms, keys=keys)
        if found is not None:
            return found
        # A task of its own: an arm of a search that waits no longer must not throw the loading away, or the next one finds no more.
        task = asyncio.get_running_loop().create_task(self._loaded_view(tenant, field, terms, keys))
        self._loading.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    async def forget(self) -> None:
        """Load every tenant again with its next query."""
        for tenant in self._known.values():
            async with tenant.lock:
                tenant.columns = None

    def _ended(self, task: asyncio.Task[View]) -> None:
        self._loading.discard(task)
        if not task.cancelled():
            task.exception()  # the caller has it, unless it waits no longer; then the next one meets the same trouble

    async def _loaded_view(self, tenant: Tenant, field: str, terms: Sequence[str], keys: Sequence[bytes]) -> View:
        async with tenant.lock:
            columns = await self._loaded(tenant)
            await self._read_terms(columns, tenant.number, terms, reads.load_terms)
            found = columns.view(field=field, terms=terms, keys=keys)
        if found is None:
            raise InternalError("postings vanished while nothing was applied")
        return found

    async def _loaded(self, tenant: Tenant) -> Columns:
        if tenant.columns is None:
            tenant.columns = await self._database.read(lambda connection: reads.load(raw(connection), tenant.number))
        return tenant.columns

    async def _read_terms(self, columns: Columns, number: int, terms: Sequence[str], read: reads.ReadTerms, *, quick: bool = False) -> None:
        """Of both fields: a search asks for both."""
        for field in (BODY, CONTEXT):
            unknown = columns.unknown_terms(field, terms)
            if unknown:
                found = await self._database.read(partial(_called, read, number, field, unknown), quick=quick)
                columns.put_postings(field, found, needed=terms)


def _called(read: reads.ReadTerms, number: int, field: str, terms: Sequence[str], connection: Connection) -> reads.FoundTerms:
    return read(raw(connection), number, field, terms)


async def _apply(tenant: Tenant, change: Change) -> None:
    async with tenant.lock:
        if tenant.columns is None:
            return
        # Taken away meanwhile: should it fail, the next query loads the truth from the file.
        columns, tenant.columns = tenant.columns, None
        if columns.work(change) <= FEW_ROWS:
            columns.apply(change)
        else:
            await asyncio.to_thread(columns.apply, change)
        tenant.columns = columns

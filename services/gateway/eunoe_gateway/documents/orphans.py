"""Blobs that no document owns: what a crash between the blob and the row of an acceptance leaves."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from eunoe_gateway.documents.sinks import Sinks
from eunoe_gateway.keyed_locks import KeyedLocks

BATCH = 500


@dataclass(frozen=True, slots=True)
class Orphans:
    """Removes them. `locks` are those under which this process accepts, so that no acceptance is half way when one looks.

    That is enough while one process owns the blobs; with several, a blob's age must be looked at too.
    """

    sinks: Sinks
    locks: KeyedLocks[UUID]

    async def remove(self) -> int:
        """Look at every blob of every tenant; returns how many documents' blobs went. May be called at any time."""
        removed = 0
        for tenant in await self.sinks.blobs.tenants():
            newest: dict[UUID, int] = {}
            for document, generation in await self.sinks.blobs.documents(tenant):
                newest[document] = max(generation, newest.get(document, 0))
            ids = list(newest)
            for start in range(0, len(ids), BATCH):
                batch = ids[start : start + BATCH]
                known = await self.sinks.catalogue.documents_by_id(tenant, batch)
                for document in batch:
                    if document not in known or newest[document] > known[document].generation:
                        removed += await self._remove_one(tenant, document, newest[document])
        return removed

    async def _remove_one(self, tenant: str, document: UUID, generation: int) -> int:
        async with self.locks.hold(document):
            row = await self.sinks.catalogue.document(tenant, document)
            # Above the generation that was accepted lies what never was; the bytes below it may be needed for a replay.
            first = row.generation + 1 if row is not None else 1
            gone = await self.sinks.blobs.delete(tenant, document, through_generation=generation, from_generation=first)
            return int(gone > 0)

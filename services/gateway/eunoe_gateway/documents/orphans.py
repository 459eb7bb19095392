"""Blobs that no document owns: what a crash between the blob and the row of an acceptance leaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from eunoe_contracts.clock import Clock

from eunoe_gateway.documents.sinks import Sinks
from eunoe_gateway.keyed_locks import KeyedLocks

BATCH = 500


@dataclass(frozen=True, slots=True)
class Orphans:
    """Removes them. `locks` are those under which this process accepts, so that none of its acceptances is half way when one looks.

    Of other gateways no lock can tell. So unless this one is `alone`, the catalogue forbids the generation first, which makes an
    acceptance that is half way somewhere plan anew; and to bother none, only what was an orphan at the look before is touched.
    """

    sinks: Sinks
    locks: KeyedLocks[UUID]
    clock: Clock
    alone: bool = True
    seen: set[tuple[str, UUID, int]] = field(default_factory=set)
    """Orphans of the look before."""

    async def remove(self) -> int:
        """Look at every blob of every tenant; returns how many documents' blobs went. May be called at any time."""
        removed = 0
        found: set[tuple[str, UUID, int]] = set()
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
                        found.add((tenant, document, newest[document]))
        for each in sorted(found):
            if self.alone or each in self.seen:
                removed += await self._remove_one(*each)
        self.seen.clear()
        self.seen.update(found)
        return removed

    async def _remove_one(self, tenant: str, document: UUID, generation: int) -> int:
        async with self.locks.hold(document):
            if not self.alone:
                return await self._remove_buried(tenant, document, generation)
            row = await self.sinks.catalogue.document(tenant, document)
            # Above the generation that was accepted lies what never was; the bytes below it may be needed for a replay.
            first = row.generation + 1 if row is not None else 1
            gone = await self.sinks.blobs.delete(tenant, document, through_generation=generation, from_generation=first)
            return int(gone > 0)

    async def _remove_buried(self, tenant: str, document: UUID, generation: int) -> int:
        # What lies above the generation of a row that stands stays until that document is erased or accepted once more.
        if not await self.sinks.catalogue.bury_unaccepted(tenant, document, generation=generation, now=self.clock.now()):
            return 0
        return int(await self.sinks.blobs.delete(tenant, document, through_generation=generation) > 0)

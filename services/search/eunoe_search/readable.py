"""Reading what the ranked rows stand for from the Catalogue, the system of record: what it no longer has is not answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from eunoe_contracts.content import MEMORY_KINDS, STRUCTURE_KINDS, Unit
from eunoe_contracts.stages import DocumentStatus
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.catalogue.rows import DocumentRow, MemoryRow
from eunoe_stores.vectors.port import RowRef

SPARE = 10
UNREADABLE = frozenset({DocumentStatus.FAILED, DocumentStatus.CANCELLED})


@dataclass(frozen=True, slots=True)
class Readable:
    """A row with its text and its document; exactly one of `unit` and `memory` is set. `place` is its index in the ranking."""

    place: int
    document: DocumentRow
    unit: Unit | None = None
    memory: MemoryRow | None = None


async def read_ranked(tenant: str, refs: Sequence[RowRef], wanted: int, *, catalogue: Catalogue) -> tuple[list[Readable], int]:
    """The first `wanted` rows that can be read, in order, and how many were dropped on the way: erased documents, memories
    without a source, rows of a generation that failed or was cancelled. The next rows fill in.
    """
    found: list[Readable] = []
    seen = 0
    while len(found) < wanted and seen < len(refs):
        # Mostly every row can be read. Where some cannot, more are asked for, so that it does not take a call for each.
        batch = refs[seen : seen + wanted - len(found) + (SPARE if seen else 0)]
        for each in await _read(tenant, batch, seen, catalogue=catalogue):
            found.append(each)
            if len(found) == wanted:
                return found, each.place + 1 - len(found)
        seen += len(batch)
    return found, seen - len(found)


async def _read(tenant: str, refs: Sequence[RowRef], start: int, *, catalogue: Catalogue) -> list[Readable]:
    units = await units_of(tenant, (ref.public_id for ref in refs if ref.kind in STRUCTURE_KINDS), catalogue=catalogue)
    memories = await memories_of(tenant, (ref.public_id for ref in refs if ref.kind in MEMORY_KINDS), catalogue=catalogue)
    owners = {unit.document for unit in units.values()} | {source for memory in memories.values() for source in memory.sources}
    documents = await catalogue.documents_by_id(tenant, sorted(owners)) if owners else {}
    readable: list[Readable] = []
    for place, ref in enumerate(refs, start=start):
        unit, memory = units.get(ref.public_id), memories.get(ref.public_id)
        if unit is not None:
            document = documents.get(unit.document)
            if document is not None and _stands(document, ref):
                readable.append(Readable(place, document, unit=unit))
        elif memory is not None:
            standing = {source: row for source, row in documents.items() if _stands(row, ref)}
            source = owner_of(memory, standing, preferred=ref.document)
            if source is not None:
                readable.append(Readable(place, source, memory=memory))
    return readable


def _stands(document: DocumentRow, ref: RowRef) -> bool:
    """False when the document failed or was cancelled, unless the row is of an older generation of it, which stays readable."""
    return document.status not in UNREADABLE or (document.id == ref.document and ref.generation < document.generation)


def owner_of(memory: MemoryRow, documents: Mapping[UUID, DocumentRow], *, preferred: UUID | None = None) -> DocumentRow | None:
    """The document to cite for a memory: the preferred source when it is still there, else the first that is."""
    sources = sorted(memory.sources, key=lambda source: source != preferred)
    return next((documents[source] for source in sources if source in documents), None)


async def units_of(tenant: str, ids: Iterable[UUID], *, catalogue: Catalogue) -> Mapping[UUID, Unit]:
    """Units by public id; no call when there is nothing to ask."""
    wanted = list(dict.fromkeys(ids))
    return await catalogue.units_by_id(tenant, wanted) if wanted else {}


async def memories_of(tenant: str, ids: Iterable[UUID], *, catalogue: Catalogue) -> Mapping[UUID, MemoryRow]:
    """Memories by public id; no call when there is nothing to ask."""
    wanted = list(dict.fromkeys(ids))
    return await catalogue.memories(tenant, wanted) if wanted else {}

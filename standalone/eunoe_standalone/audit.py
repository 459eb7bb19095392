"""Do all stores of a data directory agree? Compares blobs, vector rows and graph nodes with the catalogue, the system of record."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from eunoe_contracts.content import STRUCTURE_KINDS, Kind
from eunoe_contracts.identity import row_key
from eunoe_contracts.stages import DocumentStatus
from eunoe_stores.catalogue.rows import DocumentQuery, DocumentRow, Page

from eunoe_standalone.data_directory import DataDirectory

PAGE = 500
STORES = ("blobs", "vectors", "graph")


@dataclass(frozen=True, slots=True)
class Owned:
    """What a store holds of one generation of a document."""

    tenant: str
    store: str
    document: UUID
    generation: int


@dataclass(slots=True)
class Findings:
    """`orphans` belong to no readable generation; `missing` should be there; `miscounted` documents differ from their own counts;
    `bare` of the `rows` of the index have no vector.
    """

    documents: int = 0
    done: int = 0
    open: int = 0
    rows: int = 0
    bare: int = 0
    orphans: list[Owned] = field(default_factory=list)
    missing: list[Owned] = field(default_factory=list)
    miscounted: list[UUID] = field(default_factory=list)


async def every_document(stores: DataDirectory, tenant: str) -> AsyncIterator[DocumentRow]:
    """All documents of a tenant that are not erased."""
    offset = 0
    while True:
        rows, total = await stores.catalogue.list_documents(tenant, DocumentQuery(), Page(PAGE, offset))
        for row in rows:
            yield row
        offset += len(rows)
        if not rows or offset >= total:
            return


async def holdings(stores: DataDirectory, tenant: str) -> Mapping[str, Sequence[tuple[UUID, int]]]:
    """(document, generation) pairs by store."""
    return {
        "blobs": await stores.blobs.documents(tenant),
        "vectors": await stores.vectors.documents(tenant),
        "graph": await stores.graph.documents(tenant),
    }


async def audit(stores: DataDirectory) -> Findings:
    """Compare all stores. Run it while no server writes; documents in work are left out of the comparison."""
    found = Findings()
    tenants = {*await stores.catalogue.tenants(), *await stores.blobs.tenants()}
    for tenant in sorted(tenants):
        rows = {row.id: row async for row in every_document(stores, tenant)}
        found.documents += len(rows)
        found.open += sum(not row.status.is_end for row in rows.values())
        found.rows += await stores.vectors.count(tenant)
        found.bare += await stores.vectors.without_vectors(tenant)
        held = {name: set(pairs) for name, pairs in (await holdings(stores, tenant)).items()}
        for store, pairs in held.items():
            found.orphans += [
                Owned(tenant, store, *pair) for pair in sorted(pairs, key=str) if is_orphan(rows.get(pair[0]), pair[1], store)
            ]
        for row in rows.values():
            if row.status is DocumentStatus.DONE:
                found.done += 1
                found.missing += [
                    Owned(tenant, store, row.id, row.generation) for store in STORES if (row.id, row.generation) not in held[store]
                ]
                await count_units(stores, row, found)
    return found


def is_orphan(row: DocumentRow | None, generation: int, store: str) -> bool:
    """True for what no reader and no replay needs: of no document, of a future generation, or left behind by a newer one."""
    if row is None or generation > row.generation:
        return True
    if row.status is DocumentStatus.DONE:
        return generation < row.generation
    # A failed or cancelled document keeps its bytes for a replay, but must not be found.
    return row.status in {DocumentStatus.FAILED, DocumentStatus.CANCELLED} and generation == row.generation and store != "blobs"


async def count_units(stores: DataDirectory, row: DocumentRow, found: Findings) -> None:
    """Compare a document's passages with its own count, and look each indexed unit up in the vector index."""
    units = await stores.catalogue.units(row.tenant, row.id, row.generation, kinds=STRUCTURE_KINDS)
    passages = sum(unit.kind is Kind.PASSAGE for unit in units)
    keys = [row_key(unit.id, row.generation) for unit in units if unit.indexed]
    if passages != row.counts.get("passages") or await stores.vectors.missing(row.tenant, keys, with_vectors=False):
        found.miscounted.append(row.id)


async def remove_orphans(stores: DataDirectory, orphans: Sequence[Owned]) -> int:
    """Remove what belongs to nothing; returns how many generations."""
    deletes = {"vectors": stores.vectors.delete_document, "graph": stores.graph.delete_document}
    for each in orphans:
        if each.store == "blobs":
            # Exactly this generation: an upload that was never accepted lies above the bytes that a replay needs.
            generation = each.generation
            await stores.blobs.delete(each.tenant, each.document, through_generation=generation, from_generation=generation)
        else:
            await deletes[each.store](each.tenant, each.document, through_generation=each.generation)
    return len(orphans)

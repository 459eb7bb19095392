"""`VectorIndex` on SQLite: FTS5 gives the candidates, numpy scores them and scans the vectors."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import TypeVar, TypeVarTuple
from uuid import UUID

import numpy as np
from eunoe_contracts.errors import ModelMismatch
from eunoe_contracts.tenancy import checked_tenant
from eunoe_safety.event_loop import off_loop
from numpy.typing import NDArray

from eunoe_stores.sqlite.connections import raw
from eunoe_stores.sqlite.old_pages import drop_old_pages
from eunoe_stores.sqlite.port import FEW_ROWS, Database
from eunoe_stores.vectors.port import IndexFilter, IndexRow, RowRef, Scored
from eunoe_stores.vectors.sqlite import reads, references, scoring, writes
from eunoe_stores.vectors.sqlite.columns import View
from eunoe_stores.vectors.sqlite.entries import Entry, entry
from eunoe_stores.vectors.sqlite.id_columns import ABSENT
from eunoe_stores.vectors.sqlite.schema import BODY, CONTEXT, prepare, setting
from eunoe_stores.vectors.sqlite.space import give_back, make_ready
from eunoe_stores.vectors.sqlite.tenants import Tenant, Tenants

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
ROWS_ON_LOOP = 100_000
"""A query over as many rows stays on the event loop: its arms take some milliseconds, less than threads that wait for each other."""


class SqliteVectorIndex:
    """One index file, in a `Database` of its own (closed with the index); `NORMAL` sync suffices, `flush` makes writes durable.

    Use it from one event loop. Tables are made, or checked, with the first call.
    """

    is_local = True
    """See `VectorIndex.is_local`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tenants = Tenants(database)
        self._prepared = False
        self._preparing = asyncio.Lock()

    async def prepare(self) -> None:
        """Make or check the tables now. Raises `SchemaTooNew`, `ConfigurationError` for another analyser's index."""
        async with self._preparing:
            if not self._prepared:
                await self._database.write(lambda connection: prepare(raw(connection)))
                path = await self._read(lambda driver: Path(driver.execute("PRAGMA database_list").fetchone()[2]))
                await asyncio.to_thread(make_ready, path)
                self._prepared = True

    async def warm(self, tenant: str) -> None:
        """Load the tenant's rows now, so that its first search need not. May be called again."""
        await self._view(tenant)

    async def upsert(self, tenant: str, rows: Sequence[IndexRow]) -> None:
        """See `VectorIndex.upsert`."""
        if not rows:
            return
        state = await self._tenant(tenant, create=True)
        unique = {row.key: row for row in rows}
        size = sum(len(row.body) + len(row.context) for row in unique.values())
        entries = await off_loop(size, _entries, list(unique.values()), state.number)
        await self._tenants.write(state, entries)

    async def delete_document(self, tenant: str, document: UUID, *, through_generation: int) -> int:
        """See `VectorIndex.delete_document`."""
        state = await self._tenant(tenant)
        change = await self._tenants.write(
            state, lambda driver: writes.delete_document(driver, state.number, document.bytes, through_generation)
        )
        return len(change.removed)

    async def delete_rows(self, tenant: str, keys: Sequence[UUID]) -> int:
        """See `VectorIndex.delete_rows`."""
        state, wanted = await self._tenant(tenant), _bytes(keys)
        change = await self._tenants.write(state, lambda driver: writes.delete_rows(driver, state.number, wanted))
        return len(change.removed)

    async def set_latest(self, tenant: str, keys: Sequence[UUID], *, is_latest: bool) -> None:
        """See `VectorIndex.set_latest`."""
        state, wanted = await self._tenant(tenant), _bytes(keys)
        await self._tenants.write(state, lambda driver: writes.set_latest(driver, state.number, wanted, is_latest=is_latest))

    async def dense(self, tenant: str, vector: NDArray[np.float32], where: IndexFilter, limit: int) -> Sequence[Scored]:
        """See `VectorIndex.dense`. Raises `ModelMismatch` for a vector of another dimension."""
        view = await self._view(tenant)
        return await _scored(view, scoring.rows_by_cosine, view, _unit(vector, view), where, limit)

    async def bm25_body(self, tenant: str, tokens: Sequence[str], where: IndexFilter, limit: int) -> Sequence[Scored]:
        """See `VectorIndex.bm25_body`."""
        view = await self._view(tenant, field=BODY, terms=tokens)
        return await _scored(view, scoring.rows_by_bm25, view, "body", tokens, where, limit)

    async def bm25_context(self, tenant: str, tokens: Sequence[str], where: IndexFilter, limit: int) -> Sequence[Scored]:
        """See `VectorIndex.bm25_context`."""
        view = await self._view(tenant, field=CONTEXT, terms=tokens)
        return await _scored(view, scoring.rows_by_bm25, view, "context", tokens, where, limit)

    async def bm25_parent(self, tenant: str, tokens: Sequence[str], where: IndexFilter, limit: int) -> Mapping[UUID, float]:
        """See `VectorIndex.bm25_parent`. A parent's text is its rows that pass the filter; statistics are of all parents."""
        view = await self._view(tenant, field=BODY, terms=tokens)
        return await _scored(view, scoring.parents_by_bm25, view, tokens, where, limit)

    async def cosines(self, tenant: str, vector: NDArray[np.float32], keys: Sequence[UUID]) -> Mapping[UUID, float]:
        """See `VectorIndex.cosines`."""
        view = await self._view(tenant, keys=keys)
        there = view.slots != ABSENT
        there[there] = view.columns["has_vector"][view.slots[there]]
        slots = view.slots[there]
        found = await off_loop(len(slots), scoring.cosines, view, _unit(vector, view), slots)
        return dict(zip(compress(keys, there.tolist()), found.tolist(), strict=True))

    async def coverage(self, tenant: str, tokens: Sequence[str], keys: Sequence[UUID]) -> Mapping[UUID, float]:
        """See `VectorIndex.coverage`. Without tokens it is 0."""
        view = await self._view(tenant, field=CONTEXT, terms=tokens, keys=keys)
        shares = zip(keys, scoring.covered(view, tokens).tolist(), (view.slots != ABSENT).tolist(), strict=True)
        return {key: share for key, share, there in shares if there}

    async def holding(self, tenant: str, tokens: Sequence[str], keys: Sequence[UUID]) -> NDArray[np.bool_]:
        """See `VectorIndex.holding`."""
        return scoring.held(await self._view(tenant, field=CONTEXT, terms=tokens, keys=keys), tokens)

    async def refs(self, tenant: str, keys: Sequence[UUID]) -> Mapping[UUID, RowRef]:
        """See `VectorIndex.refs`."""
        view = await self._view(tenant, keys=keys)
        return {row.key: row for row in references.references(view, view.slots[view.slots != ABSENT])}

    async def rows_of_parent(self, tenant: str, parent: UUID) -> Sequence[RowRef]:
        """See `VectorIndex.rows_of_parent`."""
        return references.rows_of_parent(await self._view(tenant), parent)

    async def keys_of(self, tenant: str, public_ids: Sequence[UUID]) -> Mapping[UUID, tuple[UUID, ...]]:
        """See `VectorIndex.keys_of`. Ids without rows are left out; oldest generation first."""
        return references.keys_of(await self._view(tenant), public_ids)

    async def missing(self, tenant: str, keys: Sequence[UUID], *, with_vectors: bool) -> Sequence[UUID]:
        """See `VectorIndex.missing`. A key counts as found when the file, the postings and the rows in memory all have it."""
        if not keys:
            return []
        state = await self._tenant(tenant)
        few = len(keys) <= FEW_ROWS
        stored = await self._read(lambda driver: reads.findable(driver, state.number, _bytes(keys)), quick=few)
        view = await self._view(tenant, keys=keys)
        slots = dict(zip(keys, view.slots.tolist(), strict=True))
        absent = [
            key
            for key in keys
            if key.bytes not in stored
            or slots[key] == ABSENT
            or (with_vectors and (stored[key.bytes] is None or not view.columns["has_vector"][slots[key]]))
        ]
        sample = keys[len(keys) // 2]
        if with_vectors and sample not in absent and not scoring.finds_itself(view, slots[sample], stored[sample.bytes] or b""):
            absent.append(sample)
        return absent

    async def count(self, tenant: str, *, document: UUID | None = None) -> int:
        """See `VectorIndex.count`; read from the file."""
        state = await self._tenant(tenant)
        return await self._read(lambda driver: reads.count(driver, state.number, document.bytes if document else None))

    async def without_vectors(self, tenant: str) -> int:
        """See `VectorIndex.without_vectors`; read from the file."""
        state = await self._tenant(tenant)
        return await self._read(lambda driver: reads.without_vectors(driver, state.number))

    async def documents(self, tenant: str) -> Sequence[tuple[UUID, int]]:
        """See `VectorIndex.documents`; read from the file."""
        state = await self._tenant(tenant)
        found = await self._read(lambda driver: reads.documents(driver, state.number))
        return [(UUID(bytes=document), generation) for document, generation in found]

    async def bound_model(self) -> str | None:
        """See `VectorIndex.bound_model`."""
        await self.prepare()
        return await self._read(lambda driver: setting(driver, "model"))

    async def bind_model(self, model_id: str, dimensions: int) -> None:
        """See `VectorIndex.bind_model`. The same model with other dimensions is a mismatch too."""
        await self.prepare()
        await self._database.write(lambda connection: writes.bind_model(raw(connection), model_id, dimensions))
        await self._tenants.forget()

    async def flush(self) -> None:
        """See `VectorIndex.flush`. Calls that wait together share one sync."""
        await self.prepare()
        await self._tenants.settled()
        await self._database.sync()

    async def purge(self) -> bool:
        """See `VectorIndex.purge`. FTS5 keeps deleted tokens until it merges their segments; some 0.2 s for 50,000 passages."""
        await self.prepare()
        await self._database.write(lambda connection: writes.merge_postings(raw(connection)))
        while await self._database.write(lambda connection: give_back(raw(connection))):
            pass  # bit by bit, so that other writes come between
        return await drop_old_pages(self._database)

    async def close(self) -> None:
        """See `VectorIndex.close`. Running writes end first."""
        await self._tenants.settled()
        await self._database.close()

    async def _tenant(self, name: str, *, create: bool = False) -> Tenant:
        checked_tenant(name)
        if not self._prepared:
            await self.prepare()
        return await self._tenants.get(name, create=create)

    async def _view(self, tenant: str, *, field: str = "", terms: Sequence[str] = (), keys: Sequence[UUID] = ()) -> View:
        state = await self._tenant(tenant)
        return await self._tenants.view(state, field=field, terms=list(dict.fromkeys(terms)), keys=_bytes(keys))

    async def _read(self, work: Callable[[sqlite3.Connection], T], *, quick: bool = False) -> T:
        return await self._database.read(lambda connection: work(raw(connection)), quick=quick)


def _bytes(keys: Sequence[UUID]) -> list[bytes]:
    return [key.bytes for key in keys]


async def _scored(view: View, function: Callable[[*Ts], T], *args: *Ts) -> T:
    return function(*args) if view.size <= ROWS_ON_LOOP else await asyncio.to_thread(function, *args)


def _unit(vector: NDArray[np.float32], view: View) -> NDArray[np.float32]:
    plain = np.asarray(vector, dtype=np.float32)
    if view.vectors is not None and plain.shape != view.vectors[0].shape[1:]:
        raise ModelMismatch
    norm = float(np.linalg.norm(plain))
    return plain / np.float32(norm) if norm else plain


def _entries(rows: Sequence[IndexRow], tenant: int) -> list[Entry]:
    return [entry(row, tenant) for row in rows]

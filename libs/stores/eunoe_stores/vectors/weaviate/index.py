"""`VectorIndex` on Weaviate: one generation of the index, a part of it for each tenant."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar
from uuid import UUID

import numpy as np
from eunoe_contracts.content import STRUCTURE_KINDS
from eunoe_contracts.errors import EunoeError, ModelMismatch, StoreUnavailable
from eunoe_contracts.tenancy import checked_tenant
from eunoe_safety.event_loop import off_loop
from numpy.typing import NDArray
from weaviate.classes.query import Filter

from eunoe_stores.vectors.bm25 import idf
from eunoe_stores.vectors.port import IndexFilter, IndexRow, RowRef, Scored
from eunoe_stores.vectors.weaviate.arms import Arms
from eunoe_stores.vectors.weaviate.connection import Connection, Shard
from eunoe_stores.vectors.weaviate.copying import Copying, Embed
from eunoe_stores.vectors.weaviate.filters import among, ids, structure_through
from eunoe_stores.vectors.weaviate.generations import Generations
from eunoe_stores.vectors.weaviate.matching import Matching
from eunoe_stores.vectors.weaviate.parents import Parents
from eunoe_stores.vectors.weaviate.reading import Reading
from eunoe_stores.vectors.weaviate.rows import REFERENCE, Entry, entry, reference
from eunoe_stores.vectors.weaviate.schema import BODY, CONTEXT, Label
from eunoe_stores.vectors.weaviate.statistics import Statistics
from eunoe_stores.vectors.weaviate.unindexed import Unindexed
from eunoe_stores.vectors.weaviate.writing import Writing

T = TypeVar("T")
_STRUCTURE = frozenset(kind.value for kind in STRUCTURE_KINDS)


class WeaviateVectorIndex:
    """Made by `open_weaviate`. Use it from one event loop.

    A row is found by key, condition and words as soon as `upsert` returns, by its vector a second later or so: `flush` waits for what
    was written here, `missing` for what anybody wrote.
    """

    is_local = False
    """See `VectorIndex.is_local`."""

    def __init__(self, connection: Connection, generations: Generations, number: int, label: Label) -> None:
        self.generations = generations
        self.number = number
        self._label = label
        self._connection = connection
        self._reading = Reading(connection, generations.collection(number))
        self._writing = Writing(connection)
        self._statistics = Statistics(connection, self._reading)
        self._unindexed = Unindexed(connection, self._reading)
        matching = Matching(connection, self._reading)
        self._arms = Arms(connection, self._reading, matching, self._statistics)
        self._parents = Parents(connection, self._reading, matching, self._statistics)

    @property
    def unindexed(self) -> int:
        """Rows that were written here and not yet seen in the vector index."""
        return self._unindexed.count

    def shard(self, tenant: str) -> Shard:
        """The tenant's part of the collection, for what the port does not offer."""
        return self._reading.shard(tenant)

    async def upsert(self, tenant: str, rows: Sequence[IndexRow]) -> None:
        """See `VectorIndex.upsert`. After an error some of the rows may be written; the same call again completes them."""
        checked_tenant(tenant)
        if not rows:
            return
        unique = list({row.key: row for row in rows}.values())
        self._check_dimensions(unique)
        size = sum(len(row.body) + len(row.context) for row in unique)
        entries = await off_loop(size, _entries, unique)
        try:
            await self._writing.insert(self._reading.shard(tenant), entries)
        finally:
            self._statistics.forget(tenant)
        whole = {each.key: each.vector for each in entries if each.vector is not None}
        if whole:
            await self._unindexed.add(tenant, list(whole), next(iter(whole.values())).tolist())

    async def delete_document(self, tenant: str, document: UUID, *, through_generation: int) -> int:
        """See `VectorIndex.delete_document`. Of all generations of the index; counts those of this one."""
        condition = structure_through(document, through_generation)
        return await self._removed(tenant, lambda shard: self._writing.remove(shard, condition))

    async def delete_rows(self, tenant: str, keys: Sequence[UUID]) -> int:
        """See `VectorIndex.delete_rows`. Of all generations of the index; counts those of this one."""
        checked_tenant(tenant)
        if not keys:
            return 0
        self._unindexed.discard(tenant, set(keys))
        return await self._removed(tenant, lambda shard: self._writing.remove_keys(shard, keys))

    async def set_latest(self, tenant: str, keys: Sequence[UUID], *, is_latest: bool) -> None:
        """See `VectorIndex.set_latest`. In all generations of the index."""
        await self._everywhere(tenant, lambda shard: self._writing.set_latest(shard, keys, is_latest=is_latest))

    async def dense(self, tenant: str, vector: NDArray[np.float32], where: IndexFilter, limit: int) -> Sequence[Scored]:
        """See `VectorIndex.dense`. Approximate where very many rows pass the filter. Raises `ModelMismatch` for another dimension."""
        self._check_dimension(len(vector))
        return await self._arms.dense(tenant, vector, where, limit)

    async def bm25_body(self, tenant: str, tokens: Sequence[str], where: IndexFilter, limit: int) -> Sequence[Scored]:
        """See `VectorIndex.bm25_body`."""
        return await self._arms.bm25(tenant, BODY, tokens, where, limit)

    async def bm25_context(self, tenant: str, tokens: Sequence[str], where: IndexFilter, limit: int) -> Sequence[Scored]:
        """See `VectorIndex.bm25_context`."""
        return await self._arms.bm25(tenant, CONTEXT, tokens, where, limit)

    async def bm25_parent(self, tenant: str, tokens: Sequence[str], where: IndexFilter, limit: int) -> Mapping[UUID, float]:
        """See `VectorIndex.bm25_parent`; exact up to `parent_rows` rows that hold the tokens."""
        return await self._parents.bm25(tenant, tokens, where, limit)

    async def cosines(self, tenant: str, vector: NDArray[np.float32], keys: Sequence[UUID]) -> Mapping[UUID, float]:
        """See `VectorIndex.cosines`; of the stored vectors, indexed or not."""
        self._check_dimension(len(vector))
        found = {key: own for key, own in (await self._reading.vectors(tenant, keys)).items() if own is not None}
        if not found:
            return {}
        every = np.stack(list(found.values()))
        if every.shape[1] != len(vector):
            raise ModelMismatch
        norms = np.linalg.norm(every, axis=1) * np.linalg.norm(vector)
        shares = np.clip(every @ np.asarray(vector, dtype=np.float32) / np.where(norms == 0, 1, norms), -1, 1)
        return dict(zip(found, shares.tolist(), strict=True))

    async def coverage(self, tenant: str, tokens: Sequence[str], keys: Sequence[UUID]) -> Mapping[UUID, float]:
        """See `VectorIndex.coverage`. Without tokens it is 0."""
        terms = [term for term in dict.fromkeys(tokens) if term]
        texts = await self._texts(tenant, keys)
        counts = await self._statistics.holding(tenant, CONTEXT, terms)
        total = await self._statistics.rows(tenant)
        weights = {term: idf(total, counts[term]) for term in terms}
        whole = sum(weights.values()) or 1.0
        return {key: min(1.0, sum(weights[term] for term in terms if term in text) / whole) for key, text in texts.items()}

    async def holding(self, tenant: str, tokens: Sequence[str], keys: Sequence[UUID]) -> NDArray[np.bool_]:
        """See `VectorIndex.holding`."""
        texts = await self._texts(tenant, keys) if tokens else {}
        found = [[token in texts.get(key, ()) for token in tokens] for key in keys]
        return np.array(found, dtype=np.bool_).reshape(len(keys), len(tokens))

    async def refs(self, tenant: str, keys: Sequence[UUID]) -> Mapping[UUID, RowRef]:
        """See `VectorIndex.refs`."""
        found = await self._reading.by_key(tenant, keys, REFERENCE)
        return {key: reference(key, properties) for key, properties in found.items()}

    async def rows_of_parent(self, tenant: str, parent: UUID) -> Sequence[RowRef]:
        """See `VectorIndex.rows_of_parent`."""
        found = await self._referenced(tenant, "parent", [parent])
        return sorted(found, key=lambda row: (row.position, row.generation, row.key))

    async def keys_of(self, tenant: str, public_ids: Sequence[UUID]) -> Mapping[UUID, tuple[UUID, ...]]:
        """See `VectorIndex.keys_of`. Ids without rows are left out; oldest generation first."""
        found: dict[UUID, tuple[UUID, ...]] = {}
        for row in sorted(await self._referenced(tenant, "public", public_ids), key=lambda row: (row.generation, row.key)):
            found[row.public_id] = (*found.get(row.public_id, ()), row.key)
        return found

    async def missing(self, tenant: str, keys: Sequence[UUID], *, with_vectors: bool) -> Sequence[UUID]:
        """See `VectorIndex.missing`. With vectors, every row must be found by a vector query; waits for those still being indexed, at
        most `visible_s`, and raises `StoreUnavailable` when that was not enough: they are not lost, only late.
        """
        there = await self._reading.by_key(tenant, keys, ["has_vector"])
        if not with_vectors:
            return [key for key in keys if key not in there]
        whole = [key for key in keys if there.get(key, {}).get("has_vector")]
        if whole:
            sample = whole[len(whole) // 2]
            vector = (await self._reading.vectors(tenant, [sample])).get(sample)
            if vector is None or await self._unindexed.wait(tenant, whole, vector.tolist()):
                raise StoreUnavailable("weaviate is still indexing the vectors")
        found = frozenset(whole)
        return [key for key in keys if key not in found]

    async def count(self, tenant: str, *, document: UUID | None = None) -> int:
        """See `VectorIndex.count`."""
        checked_tenant(tenant)
        return await self._reading.count(tenant, None if document is None else ids("document", [document]))

    async def without_vectors(self, tenant: str) -> int:
        """See `VectorIndex.without_vectors`."""
        return await self._reading.count(tenant, Filter.by_property("has_vector").equal(False))  # noqa: FBT003 - a value

    async def documents(self, tenant: str) -> Sequence[tuple[UUID, int]]:
        """See `VectorIndex.documents`. Reads all rows."""
        rows = self._reading.every(tenant, ["document", "generation", "kind"])
        found = {(UUID(row["document"]), int(row["generation"])) async for _, row in rows if row["kind"] in _STRUCTURE}
        return sorted(found)

    async def bound_model(self) -> str | None:
        """See `VectorIndex.bound_model`; of the generation that is open."""
        self._label = await self.generations.label(self.number)
        return self._label.model

    async def bind_model(self, model_id: str, dimensions: int) -> None:
        """See `VectorIndex.bind_model`. A new model on an index with vectors wants a new generation."""
        self._label = await self.generations.bind(self.number, model_id, dimensions)

    async def flush(self) -> None:
        """See `VectorIndex.flush`: of what was accepted here. What others wrote is seen by `missing`. Raises `StoreUnavailable` when the
        vectors were not indexed within `visible_s`.
        """
        await self._unindexed.settle()

    async def purge(self) -> bool:
        """See `VectorIndex.purge`. Weaviate drops removed rows from its files when it merges them, and has no call for that: true means
        only that nothing here is in the way.
        """
        return True

    async def close(self) -> None:
        """See `VectorIndex.close`."""
        await self._connection.close()

    async def catch_up(self, target: int, tenant: str, embed: Embed) -> int:
        """Copy a tenant's rows into another generation; see `Copying.catch_up`."""
        collections = (self.generations.collection(each) for each in (self.number, target))
        return await Copying(self._connection, *collections).catch_up(tenant, embed)

    async def _removed(self, tenant: str, remove: Callable[[Shard], Awaitable[int]]) -> int:
        try:
            return await self._everywhere(tenant, remove)
        finally:
            self._statistics.forget(tenant)

    async def _everywhere(self, tenant: str, change: Callable[[Shard], Awaitable[T]]) -> T:
        """Change this generation, then the others. Returns what came of this one."""
        done = await change(self._reading.shard(tenant))
        for number in await self.generations.others(self.number):
            try:
                await change(self._connection.shard(self.generations.collection(number), tenant))
            except EunoeError:
                # A generation may be dropped at any time.
                if number in await self.generations.numbers():
                    raise
        return done

    async def _texts(self, tenant: str, keys: Sequence[UUID]) -> dict[UUID, frozenset[str]]:
        found = await self._reading.by_key(tenant, keys, [CONTEXT])
        return {key: frozenset(str(properties.get(CONTEXT) or "").split()) for key, properties in found.items()}

    async def _referenced(self, tenant: str, name: str, values: Sequence[UUID]) -> Sequence[RowRef]:
        """Rows of which a property is one of these ids."""
        if not values:
            return []
        wanted = {each.hex for each in values}
        found = await self._reading.where(tenant, among(name, sorted(wanted)), REFERENCE)
        if found is None:
            # More than an answer holds; a page after the other is only had of all rows.
            found = {key: row async for key, row in self._reading.every(tenant, REFERENCE) if row[name] in wanted}
        return [reference(key, properties) for key, properties in found.items()]

    def _check_dimensions(self, rows: Sequence[IndexRow]) -> None:
        given = {len(row.vector) for row in rows if row.vector is not None}
        if len(given) > 1:
            raise ModelMismatch
        for each in given:
            self._check_dimension(each)

    def _check_dimension(self, given: int) -> None:
        if self._label.dimensions not in {None, given}:
            raise ModelMismatch


def _entries(rows: Sequence[IndexRow]) -> list[Entry]:
    return [entry(row) for row in rows]

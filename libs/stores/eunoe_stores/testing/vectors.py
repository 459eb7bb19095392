"""`VectorIndex` in memory: every query looks at every row, in the plainest way."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar
from uuid import UUID

import numpy as np
from eunoe_contracts.content import STRUCTURE_KINDS
from eunoe_contracts.errors import InternalError, ModelMismatch
from eunoe_contracts.tenancy import checked_tenant
from numpy.typing import NDArray

from eunoe_stores.analyser import analyse
from eunoe_stores.vectors.port import IndexFilter, IndexRow, RowRef, Scored

K1 = 1.2
B = 0.75
K = TypeVar("K")


class MemoryVectorIndex:
    """Keeps rows in dicts; passes the same behaviour suite as the real ones. For thousands of rows, not more."""

    is_local = True
    """See `VectorIndex.is_local`."""

    def __init__(self) -> None:
        self._tenants: dict[str, dict[UUID, IndexRow]] = {}
        self._latest: dict[tuple[str, UUID], bool] = {}
        self._model: str | None = None
        self._dimensions: int | None = None

    def rows(self, tenant: str) -> list[IndexRow]:
        """Everything in it, for tests."""
        return self._rows(tenant)

    async def upsert(self, tenant: str, rows: Sequence[IndexRow]) -> None:
        """See `VectorIndex.upsert`."""
        vectors = [row.vector for row in rows if row.vector is not None]
        if not all(np.isfinite(vector).all() for vector in vectors):
            raise InternalError
        dimensions = {len(vector) for vector in vectors} | ({self._dimensions} if self._dimensions and vectors else set())
        if len(dimensions) > 1:
            raise ModelMismatch
        self._dimensions = next(iter(dimensions), self._dimensions)
        for row in rows:
            self._tenants.setdefault(checked_tenant(tenant), {})[row.key] = row
            self._latest[tenant, row.key] = row.is_latest

    async def delete_document(self, tenant: str, document: UUID, *, through_generation: int) -> int:
        """See `VectorIndex.delete_document`."""
        gone = [
            row.key
            for row in self._rows(tenant)
            if row.document == document and row.generation <= through_generation and row.kind in STRUCTURE_KINDS
        ]
        return await self.delete_rows(tenant, gone)

    async def delete_rows(self, tenant: str, keys: Sequence[UUID]) -> int:
        """See `VectorIndex.delete_rows`."""
        rows = self._tenants.get(checked_tenant(tenant), {})
        return sum(rows.pop(key, None) is not None for key in set(keys))

    async def set_latest(self, tenant: str, keys: Sequence[UUID], *, is_latest: bool) -> None:
        """See `VectorIndex.set_latest`."""
        for key in keys:
            self._latest[checked_tenant(tenant), key] = is_latest

    async def dense(self, tenant: str, vector: NDArray[np.float32], where: IndexFilter, limit: int) -> Sequence[Scored]:
        """See `VectorIndex.dense`."""
        scores = await self.cosines(tenant, vector, [row.key for row in self._passing(tenant, where)])
        return [Scored(key, score) for key, score in _best(scores, limit)]

    async def bm25_body(self, tenant: str, tokens: Sequence[str], where: IndexFilter, limit: int) -> Sequence[Scored]:
        """See `VectorIndex.bm25_body`."""
        return self._bm25(tenant, tokens, where, limit, lambda row: row.body)

    async def bm25_context(self, tenant: str, tokens: Sequence[str], where: IndexFilter, limit: int) -> Sequence[Scored]:
        """See `VectorIndex.bm25_context`."""
        return self._bm25(tenant, tokens, where, limit, lambda row: row.context)

    async def bm25_parent(self, tenant: str, tokens: Sequence[str], where: IndexFilter, limit: int) -> Mapping[UUID, float]:
        """See `VectorIndex.bm25_parent`."""
        every = _by_parent(self._rows(tenant))
        return dict(_best(_scores(every, _by_parent(self._passing(tenant, where)), tokens), limit))

    async def cosines(self, tenant: str, vector: NDArray[np.float32], keys: Sequence[UUID]) -> Mapping[UUID, float]:
        """See `VectorIndex.cosines`."""
        rows = self._tenants.get(checked_tenant(tenant), {})
        found = {key: rows[key].vector for key in keys if key in rows}
        return {key: _cosine(vector, own) for key, own in found.items() if own is not None}

    async def coverage(self, tenant: str, tokens: Sequence[str], keys: Sequence[UUID]) -> Mapping[UUID, float]:
        """See `VectorIndex.coverage`."""
        texts = {row.key: set(analyse(row.context)) for row in self._rows(tenant)}
        weights = {token: _idf(len(texts), sum(token in text for text in texts.values())) for token in tokens}
        total = sum(weights.values()) or 1.0
        return {key: sum(weights[each] for each in weights.keys() & texts[key]) / total for key in keys if key in texts}

    async def holding(self, tenant: str, tokens: Sequence[str], keys: Sequence[UUID]) -> NDArray[np.bool_]:
        """See `VectorIndex.holding`."""
        texts = {row.key: set(analyse(row.context)) for row in self._rows(tenant)}
        found = [[token in texts.get(key, ()) for token in tokens] for key in keys]
        return np.array(found, dtype=np.bool_).reshape(len(keys), len(tokens))

    async def refs(self, tenant: str, keys: Sequence[UUID]) -> Mapping[UUID, RowRef]:
        """See `VectorIndex.refs`."""
        rows = self._tenants.get(checked_tenant(tenant), {})
        return {key: _reference(rows[key]) for key in keys if key in rows}

    async def rows_of_parent(self, tenant: str, parent: UUID) -> Sequence[RowRef]:
        """See `VectorIndex.rows_of_parent`."""
        rows = [row for row in self._rows(tenant) if row.parent == parent]
        return [_reference(row) for row in sorted(rows, key=lambda row: (row.position, row.generation, row.key))]

    async def keys_of(self, tenant: str, public_ids: Sequence[UUID]) -> Mapping[UUID, tuple[UUID, ...]]:
        """See `VectorIndex.keys_of`."""
        found: dict[UUID, tuple[UUID, ...]] = {}
        for row in sorted(self._rows(tenant), key=lambda row: row.generation):
            if row.public_id in public_ids:
                found[row.public_id] = (*found.get(row.public_id, ()), row.key)
        return found

    async def missing(self, tenant: str, keys: Sequence[UUID], *, with_vectors: bool) -> Sequence[UUID]:
        """See `VectorIndex.missing`."""
        rows = self._tenants.get(checked_tenant(tenant), {})
        return [key for key in keys if key not in rows or (with_vectors and rows[key].vector is None)]

    async def count(self, tenant: str, *, document: UUID | None = None) -> int:
        """See `VectorIndex.count`."""
        return sum(document in {None, row.document} for row in self._rows(tenant))

    async def without_vectors(self, tenant: str) -> int:
        """See `VectorIndex.without_vectors`."""
        return sum(row.vector is None for row in self._rows(tenant))

    async def documents(self, tenant: str) -> Sequence[tuple[UUID, int]]:
        """See `VectorIndex.documents`."""
        return sorted({(row.document, row.generation) for row in self._rows(tenant) if row.kind in STRUCTURE_KINDS})

    async def bound_model(self) -> str | None:
        """See `VectorIndex.bound_model`."""
        return self._model

    async def bind_model(self, model_id: str, dimensions: int) -> None:
        """See `VectorIndex.bind_model`."""
        same = self._model in {None, model_id} and self._dimensions in {None, dimensions}
        if not same and any(row.vector is not None for rows in self._tenants.values() for row in rows.values()):
            raise ModelMismatch
        self._model, self._dimensions = model_id, dimensions

    async def flush(self) -> None:
        """See `VectorIndex.flush`; nothing waits here."""

    async def purge(self) -> bool:
        """See `VectorIndex.purge`."""
        return True

    async def close(self) -> None:
        """See `VectorIndex.close`."""

    def _rows(self, tenant: str) -> list[IndexRow]:
        return list(self._tenants.get(checked_tenant(tenant), {}).values())

    def _passing(self, tenant: str, where: IndexFilter) -> list[IndexRow]:
        return [row for row in self._rows(tenant) if _passes(row, where, is_latest=self._latest[tenant, row.key])]

    def _bm25(
        self, tenant: str, tokens: Sequence[str], where: IndexFilter, limit: int, field: Callable[[IndexRow], str]
    ) -> Sequence[Scored]:
        every = {row.key: analyse(field(row)) for row in self._rows(tenant)}
        passing = {row.key: every[row.key] for row in self._passing(tenant, where)}
        return [Scored(key, score) for key, score in _best(_scores(every, passing, tokens), limit)]


def _passes(row: IndexRow, where: IndexFilter, *, is_latest: bool) -> bool:
    when = row.event_time or row.created_at
    since = where.since is None or (when is not None and _aware(when) >= _aware(where.since))
    until = where.until is None or (when is not None and _aware(when) <= _aware(where.until))
    conditions = (
        is_latest or not where.latest_only,
        not where.containers or any(_within(row.container, pattern) for pattern in where.containers),
        not where.kinds or row.kind in where.kinds,
        not where.documents or row.document in where.documents,
        not where.tags_any or not where.tags_any.isdisjoint(row.tags),
        where.tags_all.issubset(row.tags),
        all(name in row.attributes and _same(row.attributes[name], value) for name, value in where.attributes.items()),
        since,
        until,
    )
    return all(conditions)


def _within(container: str, pattern: str) -> bool:
    return container.startswith(pattern[:-1]) if pattern.endswith("*") else container == pattern


def _same(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _aware(when: datetime) -> datetime:
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _by_parent(rows: Sequence[IndexRow]) -> dict[UUID, list[str]]:
    found: dict[UUID, list[str]] = {}
    for row in rows:
        found.setdefault(row.parent, []).extend(analyse(row.body))
    return found


def _scores(every: Mapping[K, Sequence[str]], passing: Mapping[K, Sequence[str]], tokens: Sequence[str]) -> dict[K, float]:
    """BM25 of the passing texts; statistics of every text."""
    if not every:
        return {}
    average = sum(map(len, every.values())) / len(every) or 1.0
    weights = {token: _idf(len(every), sum(token in text for text in every.values())) for token in tokens}
    found: dict[K, float] = {}
    for key, text in passing.items():
        counts, norm = Counter(text), K1 * (1 - B + B * len(text) / average)
        score = sum(weights[token] * counts[token] / (counts[token] + norm) for token in tokens if counts[token])
        if score > 0:
            found[key] = score
    return found


def _idf(total: int, holding: int) -> float:
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))


def _cosine(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    if one.shape != other.shape:
        raise ModelMismatch
    norms = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    return float(np.dot(one, other)) / norms if norms else 0.0


def _best(scores: Mapping[UUID, float], limit: int) -> list[tuple[UUID, float]]:
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


def _reference(row: IndexRow) -> RowRef:
    return RowRef(row.key, row.public_id, row.document, row.generation, row.container, row.kind, row.parent, row.position, row.is_turn)

"""The VectorIndex port: idempotent upsert by deterministic key, filters inside the index, one query per arm, raw scores.

Tokens come ready-made from `eunoe_stores.analyser`, so that every adapter finds the same words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

import numpy as np
from eunoe_contracts.content import Kind, Scalar
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One searchable text. `key` is `identity.row_key(public_id, generation)`; `parent` is what its neighbours share: the
    session of a conversation turn, else the section, else the root. `position` orders rows within the parent.
    """

    key: UUID
    public_id: UUID
    document: UUID
    generation: int
    container: str
    kind: Kind
    body: str
    context: str
    vector: NDArray[np.float32] | None
    parent: UUID
    position: int
    title: str = ""
    tags: tuple[str, ...] = ()
    attributes: Mapping[str, Scalar] = field(default_factory=dict)
    event_time: datetime | None = None
    created_at: datetime | None = None
    is_latest: bool = True
    is_turn: bool | None = None
    """Whether it is a turn of a conversation; None when the writer does not say."""


@dataclass(frozen=True, slots=True)
class IndexFilter:
    """What a row must satisfy. None or empty means no condition; all conditions must hold.

    A container ending in `*` matches the prefix before it; others match exactly (inheritance is expanded by the caller).
    """

    containers: tuple[str, ...] = ()
    kinds: frozenset[Kind] = frozenset()
    documents: frozenset[UUID] = frozenset()
    tags_any: frozenset[str] = frozenset()
    tags_all: frozenset[str] = frozenset()
    attributes: Mapping[str, Scalar] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    latest_only: bool = True


class Scored(NamedTuple):
    """A row and the raw score of one arm; higher is better."""

    key: UUID
    score: float


class RowRef(NamedTuple):
    """What fusion needs to know of a row without reading its text."""

    key: UUID
    public_id: UUID
    document: UUID
    generation: int
    container: str
    kind: Kind
    parent: UUID
    position: int
    is_turn: bool | None = None


class VectorIndex(Protocol):
    """Vectors and BM25 over passages, roots and memories."""

    @property
    def is_local(self) -> bool:
        """Whether answers come without waiting for another machine, so that asking one after another is as quick as all at once."""
        ...

    async def upsert(self, tenant: str, rows: Sequence[IndexRow]) -> None:
        """Insert or replace by key; all of them or an error. Raises `ModelMismatch` for a vector of another dimension.

        Rows are found by key, filter and words when this returns; by their vectors too when the index is local, else after `flush`.
        """
        ...

    async def delete_document(self, tenant: str, document: UUID, *, through_generation: int) -> int:
        """Remove the document's structure rows of that and older generations; returns how many."""
        ...

    async def delete_rows(self, tenant: str, keys: Sequence[UUID]) -> int:
        """Remove rows by key; returns how many were there."""
        ...

    async def set_latest(self, tenant: str, keys: Sequence[UUID], *, is_latest: bool) -> None:
        """Mark rows as superseded or not."""
        ...

    async def dense(self, tenant: str, vector: NDArray[np.float32], where: IndexFilter, limit: int) -> Sequence[Scored]:
        """Exact or approximate nearest rows; the score is the cosine. Rows without a vector are left out."""
        ...

    async def bm25_body(self, tenant: str, tokens: Sequence[str], where: IndexFilter, limit: int) -> Sequence[Scored]:
        """BM25 (k1 1.2, b .75, idf ln(1 + (N-n+.5)/(n+.5)), statistics per tenant) on the body."""
        ...

    async def bm25_context(self, tenant: str, tokens: Sequence[str], where: IndexFilter, limit: int) -> Sequence[Scored]:
        """The same on the contextual text."""
        ...

    async def bm25_parent(self, tenant: str, tokens: Sequence[str], where: IndexFilter, limit: int) -> Mapping[UUID, float]:
        """BM25 over parents, a parent being the body tokens of its rows together; score by parent id."""
        ...

    async def cosines(self, tenant: str, vector: NDArray[np.float32], keys: Sequence[UUID]) -> Mapping[UUID, float]:
        """Cosine of given rows (those that have a vector)."""
        ...

    async def coverage(self, tenant: str, tokens: Sequence[str], keys: Sequence[UUID]) -> Mapping[UUID, float]:
        """Share of the query's idf weight that each row's contextual text contains, 0 to 1 (unknown tokens count fully)."""
        ...

    async def holding(self, tenant: str, tokens: Sequence[str], keys: Sequence[UUID]) -> NDArray[np.bool_]:
        """Which row's contextual text holds which token: one row of the answer per key, one column per token. A row that is not
        there holds none.
        """
        ...

    async def refs(self, tenant: str, keys: Sequence[UUID]) -> Mapping[UUID, RowRef]:
        """References of the rows that exist."""
        ...

    async def rows_of_parent(self, tenant: str, parent: UUID) -> Sequence[RowRef]:
        """Rows that share a parent, by position."""
        ...

    async def keys_of(self, tenant: str, public_ids: Sequence[UUID]) -> Mapping[UUID, tuple[UUID, ...]]:
        """Row keys by public id (usually one; two while a new generation is being indexed)."""
        ...

    async def missing(self, tenant: str, keys: Sequence[UUID], *, with_vectors: bool) -> Sequence[UUID]:
        """Read-back: keys that a query would not find. With vectors, one sampled row must be found by its own vector.

        Raises `StoreUnavailable` for vectors that are there and still being indexed: late, not missing.
        """
        ...

    async def count(self, tenant: str, *, document: UUID | None = None) -> int:
        """Number of rows."""
        ...

    async def without_vectors(self, tenant: str) -> int:
        """Number of rows that no dense query finds, because they were written without a model. Looks at all rows."""
        ...

    async def documents(self, tenant: str) -> Sequence[tuple[UUID, int]]:
        """(document, generation) pairs that have structure rows, for audits."""
        ...

    async def bound_model(self) -> str | None:
        """Model id stored with the index; None before the first `bind_model`."""
        ...

    async def bind_model(self, model_id: str, dimensions: int) -> None:
        """Store the model id, or raise `ModelMismatch` when another one is stored and rows have vectors."""
        ...

    async def flush(self) -> None:
        """Return when everything that this object accepted so far is durable and searchable."""
        ...

    async def purge(self) -> bool:
        """Make what was deleted unrecoverable from the files. False when somebody was in the way; then try again later.

        Takes time with the size of the index. May be called twice.
        """
        ...

    async def close(self) -> None:
        """Release resources. May be called twice."""
        ...

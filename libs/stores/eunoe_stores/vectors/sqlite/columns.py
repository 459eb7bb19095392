"""A tenant's rows in memory, column by column: loaded on first use, then changed after each commit, in the order of commits."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from eunoe_contracts.content import Kind
from numpy.typing import NDArray

from eunoe_stores.vectors.port import RowRef
from eunoe_stores.vectors.sqlite.codes import Containers, Profiles
from eunoe_stores.vectors.sqlite.compact_vectors import Arrays, CompactVectors, decoded
from eunoe_stores.vectors.sqlite.entries import Record
from eunoe_stores.vectors.sqlite.growing import Growing
from eunoe_stores.vectors.sqlite.id_columns import ABSENT, IdColumn, IdTable
from eunoe_stores.vectors.sqlite.postings import MOST_FREQUENT, PostingCache, Postings
from eunoe_stores.vectors.sqlite.writes import Change

KINDS = tuple(Kind)
KIND_CODES = {kind.value: number for number, kind in enumerate(KINDS)}
DEAD_ROWS = 1_024
"""Removed rows that stay as tombstones at least, so that small tenants do not compact all the time."""
NOT_SAID = -1
"""Code of a row of which the writer did not say whether it is a conversation turn."""

_COLUMNS: Mapping[str, Any] = {
    "id": np.int64, "document": np.int32, "parent": np.int32, "container": np.int32, "kind": np.int8, "generation": np.int32,
    "position": np.int64, "profile": np.int32, "time": np.float64, "latest": np.bool_, "turn": np.int8,
    "body": np.int32, "context": np.int32, "alive": np.bool_, "has_vector": np.bool_,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class View:
    """The rows at one moment, for a query in a thread. `slots` are those of the keys that the view was asked for (`ABSENT`: no
    such row), and `postings` those of the terms. `references` are kept from query to query.
    """

    columns: Mapping[str, NDArray[Any]]
    vectors: Arrays | None
    keys: IdColumn
    publics: IdColumn
    live: int
    lengths: Mapping[str, int]
    containers: Containers
    profiles: Profiles
    documents: IdTable
    parents: IdTable
    references: dict[int, RowRef]
    slots: NDArray[np.int64]
    postings: Mapping[str, Postings]

    @property
    def size(self) -> int:
        """Rows, dead ones included."""
        return len(self.columns["alive"])


class Columns:
    """All methods may be called from any thread; `apply` and `append` by one at a time."""

    def __init__(self) -> None:
        self.mutex = threading.Lock()
        self.through = 0
        self._containers, self._profiles = Containers(), Profiles()
        self._documents, self._parents = IdTable(), IdTable()
        self.postings = PostingCache()
        self._table = Growing(**{name: np.zeros(0, dtype=dtype) for name, dtype in _COLUMNS.items()})
        self._shown: Mapping[str, NDArray[Any]] | None = None
        self._vectors: CompactVectors | None = None
        self._keys, self._publics = IdTable(), IdColumn()
        self._references: dict[int, RowRef] = {}
        self._live = 0
        self._lengths = {"body": 0, "context": 0}

    def view(self, *, field: str = "", terms: Sequence[str] = (), keys: Sequence[bytes] = ()) -> View | None:
        """The rows now; None when postings of a term must be read first (`put_postings`)."""
        with self.mutex:
            postings = self.postings.get(field, terms) if terms else {}
            if postings is None:
                return None
            if self._shown is None:
                self._shown = {name: self._table[name] for name in _COLUMNS}
            slots = self._keys.find(keys)
            if len(keys) and self._table.size:
                slots[~self._table["alive"][slots]] = ABSENT
            return View(
                self._shown,
                None if self._vectors is None else self._vectors.arrays(),
                self._keys,
                self._publics,
                self._live,
                self._lengths,
                self._containers,
                self._profiles,
                self._documents,
                self._parents,
                self._references,
                slots,
                postings,
            )

    def unknown_terms(self, field: str, terms: Sequence[str]) -> list[str]:
        """Terms whose postings must be read first."""
        with self.mutex:
            return self.postings.unknown(field, terms)

    def apply(self, change: Change) -> None:
        """Repeat a committed change. One that was loaded already does nothing."""
        with self.mutex:
            self._kill(change.removed)
            added = [(number, entry) for number, entry in change.added if number > self.through]
            first = self._table.size
            self._append([entry.record(number) for number, entry in added])
            vectors = [(number, entry.vector) for number, entry in added if entry.vector is not None]
            if vectors:
                self._set_vectors([number for number, _ in vectors], [vector for _, vector in vectors])
            for slot, (_, entry) in enumerate(added, first):
                self.postings.add_row(slot, entry.terms)
            for slot in self._positions(change.flagged):
                self._table["latest"][slot] = change.is_latest
            if self._table.size - self._live > max(DEAD_ROWS, self._live // 3):
                self._compact()

    def work(self, change: Change) -> int:
        """How many rows `apply` will touch: all of them when it drops the dead ones."""
        touched = len(change.removed) + len(change.added) + len(change.flagged)
        dead = self._table.size - self._live + len(change.removed)
        return self._table.size if dead > max(DEAD_ROWS, self._live // 3) else touched

    def reserve(self, rows: int, dimensions: int) -> None:
        """Make room for that many rows in all."""
        self._table.reserve(rows)
        if dimensions:
            self._vectors = CompactVectors(dimensions)
            self._vectors.reserve(rows)

    def append(self, records: Sequence[Record]) -> None:
        """Rows read from the database, ids ascending."""
        with self.mutex:
            self._append(records)

    def set_vectors(self, numbers: Sequence[int], vectors: Sequence[bytes]) -> None:
        """Vectors of rows that are there."""
        with self.mutex:
            self._set_vectors(numbers, vectors)

    def put_postings(self, field: str, found: Mapping[str, tuple[NDArray[np.int64], NDArray[np.int64]]], *, needed: Sequence[str]) -> None:
        """Postings by row id; rows that are not here yet come with their own change. The needed terms are not forgotten now."""
        with self.mutex:
            ids = self._table["id"]
            for term, (numbers, frequencies) in found.items():
                slots = np.searchsorted(ids, numbers)
                inside = slots < len(ids)
                inside[inside] = ids[slots[inside]] == numbers[inside]
                order = np.argsort(slots[inside], kind="stable")
                kept = np.minimum(frequencies[inside][order], MOST_FREQUENT).astype(np.uint16)
                self.postings.put(field, term, (slots[inside][order].astype(np.int32), kept))
            self.postings.get(field, needed)
            self.postings.shrink(field, keep=len(needed))

    def _append(self, records: Sequence[Record]) -> None:
        if not records:
            return
        ids, keys, publics, documents, parents, containers, kinds, generations, positions, profiles, times, latest, body, context, turns = (
            zip(*records, strict=True)
        )
        self._table.extend(
            len(records),
            {
                "id": ids,
                "document": self._documents.numbers(documents),
                "parent": self._parents.numbers(parents),
                "container": [self._containers.code(each) for each in containers],
                "kind": [KIND_CODES[each] for each in kinds],
                "generation": generations,
                "position": positions,
                "profile": [self._profiles.code(each) for each in profiles],
                "time": [np.nan if each is None else each for each in times],
                "latest": latest,
                "turn": [NOT_SAID if each is None else each for each in turns],
                "body": body,
                "context": context,
                "alive": True,
            },
        )
        self._shown = None
        self._keys.extend(keys)
        self._publics.extend(publics)
        self._live += len(records)
        # A new mapping: views of running queries keep theirs.
        self._lengths = {"body": self._lengths["body"] + sum(body), "context": self._lengths["context"] + sum(context)}
        self.through = ids[-1]

    def _set_vectors(self, numbers: Sequence[int], vectors: Sequence[bytes]) -> None:
        block = decoded(vectors)
        if self._vectors is None:
            self._vectors = CompactVectors(block.shape[1])
        slots = np.searchsorted(self._table["id"], np.array(numbers, dtype=np.int64))
        self._vectors.put(self._table.size, slots, block)
        self._table["has_vector"][slots] = True

    def _positions(self, numbers: Sequence[int]) -> list[int]:
        if not numbers:
            return []
        ids = self._table["id"]
        slots = np.searchsorted(ids, np.array(numbers, dtype=np.int64)).tolist()
        return [
            slot
            for slot, number in zip(slots, numbers, strict=True)
            if slot < len(ids) and ids[slot] == number and self._table["alive"][slot]
        ]

    def _kill(self, numbers: Sequence[int]) -> None:
        for slot in self._positions(numbers):
            self._table["alive"][slot] = False
            self._live -= 1
            self._lengths = {name: length - int(self._table[name][slot]) for name, length in self._lengths.items()}

    def _compact(self) -> None:
        alive = self._table["alive"].copy()
        kept = np.flatnonzero(alive)
        if self._vectors is not None:
            self._vectors.keep(alive)
        self._table.keep(alive)
        self._containers, containers = self._containers.compacted(self._table["container"])
        self._profiles, profiles = self._profiles.compacted(self._table["profile"])
        self._documents, documents = self._documents.compacted(self._table["document"])
        self._parents, parents = self._parents.compacted(self._table["parent"])
        for name, column in (("container", containers), ("profile", profiles), ("document", documents), ("parent", parents)):
            self._table.replace(name, column)
        # New objects: views of running queries keep the old ones.
        self._keys, self._publics = self._keys.kept(kept), self._publics.kept(kept)
        self._references, self._shown = {}, None
        self.postings.clear()

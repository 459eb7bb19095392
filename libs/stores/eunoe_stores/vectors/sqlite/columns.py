"""A tenant's rows in memory, column by column: loaded on first use, then changed after each commit, in the order of commits."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from eunoe_contracts.content import Kind
from numpy.typing import NDArray

from eunoe_stores.vectors.sqlite.codes import Codes, Containers, Profiles
from eunoe_stores.vectors.sqlite.entries import Record
from eunoe_stores.vectors.sqlite.growing import Growing
from eunoe_stores.vectors.sqlite.postings import PostingCache, Postings
from eunoe_stores.vectors.sqlite.writes import Change

KINDS = tuple(Kind)
KIND_CODES = {kind.value: number for number, kind in enumerate(KINDS)}
DEAD_ROWS = 1_024
"""Removed rows that stay as tombstones at least, so that small tenants do not compact all the time."""

_COLUMNS: Mapping[str, Any] = {
    "id": np.int64, "key": np.uint64, "public": np.uint64, "document": np.int32, "parent": np.int32, "container": np.int32,
    "kind": np.int8, "generation": np.int32, "position": np.int64, "profile": np.int32, "time": np.float64, "latest": np.bool_,
    "body": np.int32, "context": np.int32, "alive": np.bool_, "has_vector": np.bool_,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class View:
    """The rows at one moment, for a query in a thread. `columns["key"]` holds the first eight bytes, to break ties by.

    `slots` are those of the keys and `postings` those of the terms that the view was asked for.
    """

    columns: Mapping[str, NDArray[Any]]
    vectors: NDArray[np.float32] | None
    keys: Sequence[bytes]
    publics: Sequence[bytes]
    live: int
    lengths: Mapping[str, int]
    containers: Containers
    profiles: Profiles
    documents: Codes[bytes]
    parents: Codes[bytes]
    slots: Mapping[bytes, int]
    postings: Mapping[str, Postings]


class Columns:
    """All methods may be called from any thread; `apply` and `append` by one at a time."""

    def __init__(self) -> None:
        self.mutex = threading.Lock()
        self.through = 0
        self._containers, self._profiles = Containers(), Profiles()
        self._documents: Codes[bytes] = Codes()
        self._parents: Codes[bytes] = Codes()
        self.postings = PostingCache()
        self._table = Growing(**{name: np.zeros(0, dtype=dtype) for name, dtype in _COLUMNS.items()})
        self._vectors: Growing | None = None
        self._keys: list[bytes] = []
        self._publics: list[bytes] = []
        self._slots: dict[bytes, int] = {}
        self._live = 0
        self._lengths = {"body": 0, "context": 0}

    def view(self, *, field: str = "", terms: Sequence[str] = (), keys: Iterable[bytes] = ()) -> View | None:
        """The rows now; None when postings of a term must be read first (`put_postings`)."""
        with self.mutex:
            postings = self.postings.get(field, terms)
            if postings is None:
                return None
            return View(
                {name: self._table[name] for name in _COLUMNS},
                None if self._vectors is None else self._vectors["vector"],
                self._keys,
                self._publics,
                self._live,
                dict(self._lengths),
                self._containers,
                self._profiles,
                self._documents,
                self._parents,
                {key: self._slots[key] for key in keys if key in self._slots},
                postings,
            )

    def unknown_terms(self, field: str, terms: Iterable[str]) -> list[str]:
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
                self._set_vectors([number for number, _ in vectors], b"".join(vector for _, vector in vectors))
            for slot, (_, entry) in enumerate(added, first):
                self.postings.add_row(slot, entry.terms)
            for slot in self._positions(change.flagged):
                self._table["latest"][slot] = change.is_latest
            if self._table.size - self._live > max(DEAD_ROWS, self._live // 3):
                self._compact()

    def append(self, records: Sequence[Record]) -> None:
        """Rows read from the database, ids ascending."""
        with self.mutex:
            self._table.reserve(self._table.size + len(records))
            self._append(records)

    def set_vectors(self, numbers: Sequence[int], data: bytes) -> None:
        """Vectors of rows that are there; `data` holds them one after another."""
        with self.mutex:
            self._set_vectors(numbers, data)

    def put_postings(
        self, field: str, found: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float32]]], *, needed: Sequence[str]
    ) -> None:
        """Postings by row id; rows that are not here yet come with their own change. The needed terms are not forgotten now."""
        with self.mutex:
            ids = self._table["id"]
            for term, (numbers, frequencies) in found.items():
                slots = np.searchsorted(ids, numbers)
                inside = slots < len(ids)
                inside[inside] = ids[slots[inside]] == numbers[inside]
                order = np.argsort(slots[inside], kind="stable")
                self.postings.put(field, term, (slots[inside][order].astype(np.int32), frequencies[inside][order]))
            self.postings.get(field, needed)
            self.postings.shrink(keep=len(needed))

    def _append(self, records: Sequence[Record]) -> None:
        if not records:
            return
        ids, keys, publics, documents, parents, containers, kinds, generations, positions, profiles, times, latest, body, context = zip(
            *records, strict=True
        )
        first = self._table.size
        self._table.extend(
            len(records),
            {
                "id": ids,
                "key": _first_half(keys),
                "public": _first_half(publics),
                "document": [self._documents.code(each) for each in documents],
                "parent": [self._parents.code(each) for each in parents],
                "container": [self._containers.code(each) for each in containers],
                "kind": [KIND_CODES[each] for each in kinds],
                "generation": generations,
                "position": positions,
                "profile": [self._profiles.code(each) for each in profiles],
                "time": [np.nan if each is None else each for each in times],
                "latest": latest,
                "body": body,
                "context": context,
                "alive": True,
            },
        )
        self._keys.extend(keys)
        self._publics.extend(publics)
        self._slots.update(zip(keys, range(first, first + len(keys)), strict=True))
        self._live += len(records)
        self._lengths["body"] += sum(body)
        self._lengths["context"] += sum(context)
        self.through = ids[-1]

    def _set_vectors(self, numbers: Sequence[int], data: bytes) -> None:
        block = np.frombuffer(data, dtype="<f4").reshape(len(numbers), -1)
        if self._vectors is None:
            self._vectors = Growing(vector=np.zeros((0, block.shape[1]), dtype=np.float32))
        missing = self._table.size - self._vectors.size
        if missing:
            self._vectors.extend(missing, {})
        norms = np.linalg.norm(block, axis=1, keepdims=True)
        slots = np.searchsorted(self._table["id"], np.array(numbers, dtype=np.int64))
        self._vectors["vector"][slots] = block / np.where(norms == 0, 1, norms)
        self._table["has_vector"][slots] = True

    def _positions(self, numbers: Sequence[int]) -> list[int]:
        ids = self._table["id"]
        slots = np.searchsorted(ids, np.array(numbers, dtype=np.int64)).tolist()
        return [
            slot
            for slot, number in zip(slots, numbers, strict=True)
            if slot < len(ids) and ids[slot] == number and self._table["alive"][slot]
        ]

    def _kill(self, numbers: Sequence[int]) -> None:
        for slot in self._positions(numbers) if numbers else ():
            self._table["alive"][slot] = False
            self._live -= 1
            for name in self._lengths:
                self._lengths[name] -= int(self._table[name][slot])
            if self._slots.get(self._keys[slot]) == slot:
                del self._slots[self._keys[slot]]

    def _compact(self) -> None:
        alive = self._table["alive"].copy()
        kept = np.flatnonzero(alive).tolist()
        if self._vectors is not None:
            self._vectors.extend(self._table.size - self._vectors.size, {})
            self._vectors.keep(alive)
        self._table.keep(alive)
        self._containers, containers = self._containers.compacted(self._table["container"])
        self._profiles, profiles = self._profiles.compacted(self._table["profile"])
        self._documents, documents = self._documents.compacted(self._table["document"])
        self._parents, parents = self._parents.compacted(self._table["parent"])
        for name, column in (("container", containers), ("profile", profiles), ("document", documents), ("parent", parents)):
            self._table.replace(name, column)
        # New lists: views of running queries keep the old ones.
        self._keys = [self._keys[slot] for slot in kept]
        self._publics = [self._publics[slot] for slot in kept]
        self._slots = {key: slot for slot, key in enumerate(self._keys)}
        self.postings.clear()


def _first_half(values: Sequence[bytes]) -> NDArray[np.uint64]:
    return np.frombuffer(b"".join(values), dtype=">u8")[::2].astype(np.uint64)

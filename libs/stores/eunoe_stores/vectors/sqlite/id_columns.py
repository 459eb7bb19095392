"""Sixteen-byte ids of rows, documents and parents, in arrays: as objects in lists and dicts each would take 150 bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from eunoe_stores.vectors.sqlite.growing import Growing

ABSENT = -1
RECENT = 1_024
"""Ids that are looked up in a dict before they are sorted in; an eighth of the table when that is more."""
_HALF = 64
_NO_IDS = np.zeros(0, dtype=np.uint64)


class IdColumn:
    """Ids by number, in the order in which they were appended. Numbers never change."""

    def __init__(self, first: NDArray[np.uint64] = _NO_IDS, second: NDArray[np.uint64] = _NO_IDS) -> None:
        self._halves = Growing(first=_NO_IDS, second=_NO_IDS)
        self._halves.extend(len(first), {"first": first, "second": second})

    def __len__(self) -> int:
        """How many there are."""
        return self._halves.size

    def ids(self, numbers: NDArray[Any]) -> list[int]:
        """The ids of these numbers, as 128-bit integers."""
        firsts, seconds = self._halves["first"][numbers].tolist(), self._halves["second"][numbers].tolist()
        return [first << _HALF | second for first, second in zip(firsts, seconds, strict=True)]

    @property
    def first_halves(self) -> NDArray[np.uint64]:
        """The first eight bytes of each id as a number: ties are broken by them."""
        return self._halves["first"]

    def extend(self, ids: Sequence[bytes]) -> None:
        """Append, repeated ones too."""
        halves = _halves(ids)
        self._halves.extend(len(ids), {"first": halves[:, 0], "second": halves[:, 1]})

    def kept(self, numbers: NDArray[Any]) -> Self:
        """A column of these numbers' ids, numbered anew in this order. This one stays as it is, for running queries."""
        return type(self)(self._halves["first"][numbers], self._halves["second"][numbers])


class IdTable(IdColumn):
    """Also finds the number of an id; of an id that was appended twice, the newest."""

    def __init__(self, first: NDArray[np.uint64] = _NO_IDS, second: NDArray[np.uint64] = _NO_IDS) -> None:
        super().__init__(first, second)
        self._sort()

    def extend(self, ids: Sequence[bytes]) -> None:
        """Append; an id that is there already gets one more number."""
        start = len(self)
        super().extend(ids)
        self._recent.update(zip(ids, range(start, start + len(ids)), strict=True))
        if len(self._recent) > max(RECENT, len(self) // 8):
            self._sort()

    def find(self, ids: Sequence[bytes]) -> NDArray[np.int64]:
        """The number of each id, `ABSENT` for those that are not there. May be called while another thread extends the table."""
        recent, (firsts, order) = self._recent, self._index
        found = np.full(len(ids), ABSENT, dtype=np.int64)
        if len(ids) and len(order):
            halves = _halves(ids)
            at = np.searchsorted(firsts, halves[:, 0], side="right") - 1
            numbers = order[np.maximum(at, 0)]
            same = (firsts[np.maximum(at, 0)] == halves[:, 0]) & (at >= 0)
            exact = same & (self._halves["second"][numbers] == halves[:, 1])
            found[exact] = numbers[exact]
            for place in np.flatnonzero(same & ~exact).tolist():
                # Two ids with the same first half: that does not happen, but it must not give the wrong one.
                found[place] = self._among_equals(firsts, order, int(at[place]), halves[place])
        if recent:
            for place, each in enumerate(ids):
                number = recent.get(each)
                if number is not None:
                    found[place] = number
        return found

    def number(self, given: bytes) -> int | None:
        """The number of one id if it is there."""
        found = int(self.find([given])[0])
        return None if found == ABSENT else found

    def numbers(self, ids: Sequence[bytes]) -> NDArray[np.int64]:
        """The number of each id; those that are not there are appended first, each once."""
        found = self.find(ids)
        new = np.flatnonzero(found == ABSENT)
        if len(new):
            self.extend(list(dict.fromkeys(ids[place] for place in new.tolist())))
            found[new] = self.find([ids[place] for place in new.tolist()])
        return found

    def chosen(self, ids: Iterable[bytes]) -> NDArray[np.bool_]:
        """A table to look numbers up in: true for the given ids."""
        table = np.zeros(len(self), dtype=np.bool_)
        numbers = self.find(list(ids))
        table[numbers[(numbers != ABSENT) & (numbers < len(table))]] = True
        return table

    def compacted(self, column: NDArray[Any]) -> tuple[Self, NDArray[np.intp]]:
        """A table of the ids that the column uses, and the column in its numbers."""
        used, renumbered = np.unique(column, return_inverse=True)
        return self.kept(used), renumbered

    def _sort(self) -> None:
        # Stable: of equal ids the newest is the last, which is the one that is found.
        order = np.argsort(self._halves["first"], kind="stable")
        # In this order: who reads meanwhile took the dict first, so it misses nothing.
        self._index = (self._halves["first"][order], order)
        self._recent: dict[bytes, int] = {}

    def _among_equals(self, firsts: NDArray[np.uint64], order: NDArray[np.int64], at: int, wanted: NDArray[np.uint64]) -> int:
        while at >= 0 and firsts[at] == wanted[0]:
            if self._halves["second"][order[at]] == wanted[1]:
                return int(order[at])
            at -= 1
        return ABSENT


def _halves(ids: Sequence[bytes]) -> NDArray[np.uint64]:
    return np.frombuffer(b"".join(ids), dtype=">u8").astype(np.uint64).reshape(len(ids), 2)

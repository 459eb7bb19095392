"""Postings in memory: which rows hold a term, how often. Read from FTS5 when a query first asks, then kept up to date."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

MAX_CACHED = 6_000_000
"""Postings kept per tenant (8 bytes each); the least recently used terms go first."""
_COST = 32
"""What a term costs at least, in postings, so that unknown words do not fill the memory."""

Postings: TypeAlias = tuple[NDArray[np.int32], NDArray[np.float32]]
"""Slots in ascending order, and frequencies."""


class Term:
    """Postings of one term; new ones wait in lists until somebody reads."""

    def __init__(self, slots: NDArray[np.int32], frequencies: NDArray[np.float32]) -> None:
        self._slots, self._frequencies = slots, frequencies
        self._new_slots: list[int] = []
        self._new_frequencies: list[int] = []

    def __len__(self) -> int:
        return len(self._slots) + len(self._new_slots) + _COST

    def add(self, slot: int, frequency: int) -> None:
        """Append; slots only grow."""
        self._new_slots.append(slot)
        self._new_frequencies.append(frequency)

    def arrays(self) -> Postings:
        """All postings."""
        if self._new_slots:
            self._slots = np.concatenate([self._slots, np.array(self._new_slots, dtype=np.int32)])
            self._frequencies = np.concatenate([self._frequencies, np.array(self._new_frequencies, dtype=np.float32)])
            self._new_slots, self._new_frequencies = [], []
        return self._slots, self._frequencies


class PostingCache:
    """Terms of one tenant by field, least recently used first."""

    def __init__(self) -> None:
        self._terms: OrderedDict[tuple[str, str], Term] = OrderedDict()

    def unknown(self, field: str, terms: Iterable[str]) -> list[str]:
        """Those that must be read first."""
        return [term for term in terms if (field, term) not in self._terms]

    def put(self, field: str, term: str, postings: Postings) -> None:
        """Keep what was read."""
        self._terms[field, term] = Term(*postings)

    def get(self, field: str, terms: Iterable[str]) -> dict[str, Postings] | None:
        """Postings of the terms; None when one of them is not here."""
        found: dict[str, Postings] = {}
        for term in terms:
            known = self._terms.get((field, term))
            if known is None:
                return None
            self._terms.move_to_end((field, term))
            found[term] = known.arrays()
        return found

    def add_row(self, slot: int, fields: Mapping[str, Mapping[str, int]]) -> None:
        """A new row: append to the terms that are known."""
        if not self._terms:
            return
        for field, terms in fields.items():
            for term, frequency in terms.items():
                known = self._terms.get((field, term))
                if known is not None:
                    known.add(slot, frequency)

    def shrink(self, *, keep: int) -> None:
        """Forget the least recently used terms above the limit, but never the last `keep`."""
        total = sum(len(term) for term in self._terms.values())
        while total > MAX_CACHED and len(self._terms) > keep:
            total -= len(self._terms.popitem(last=False)[1])

    def clear(self) -> None:
        """Forget everything (slots were renumbered)."""
        self._terms.clear()

"""Postings in memory: which rows hold a term, how often. Read from FTS5 when a query first asks, then kept up to date."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

MAX_CACHED = 1_500_000
"""Postings kept per tenant and field (six bytes each); the least recently used terms go first."""
_FREQUENCY_BITS = 16
MOST_FREQUENT = (1 << _FREQUENCY_BITS) - 1
"""Frequencies above count as this one; long before, BM25 makes no difference between them."""
_COST = 32
"""What a term costs at least, in postings, so that unknown words do not fill the memory."""

Postings: TypeAlias = tuple[NDArray[np.int32], NDArray[np.uint16]]
"""Slots in ascending order, and frequencies."""


class Term:
    """Postings of one term; new ones wait until somebody reads."""

    def __init__(self, slots: NDArray[np.int32], frequencies: NDArray[np.uint16]) -> None:
        self._slots, self._frequencies = slots, frequencies
        self.new = array("q")
        """Slot and frequency in one number each, because appending is most of what a row costs here. Slots only grow."""

    def __len__(self) -> int:
        """What it costs to keep."""
        return len(self._slots) + len(self.new) + _COST

    def arrays(self) -> Postings:
        """All postings."""
        if self.new:
            added = np.frombuffer(self.new, dtype=np.int64)
            self._slots = np.concatenate([self._slots, (added >> _FREQUENCY_BITS).astype(np.int32)])
            self._frequencies = np.concatenate([self._frequencies, (added & MOST_FREQUENT).astype(np.uint16)])
            self.new = array("q")
        return self._slots, self._frequencies


class _Field:
    """Terms of one field, least recently used first."""

    def __init__(self) -> None:
        self.terms: OrderedDict[str, Term] = OrderedDict()
        self.cost = 0

    def put(self, name: str, term: Term) -> None:
        self.cost += len(term) - (len(self.terms[name]) if name in self.terms else 0)
        self.terms[name] = term

    def add(self, slot: int, frequencies: Mapping[str, int]) -> None:
        terms, high = self.terms, slot << _FREQUENCY_BITS
        held = terms.keys() & frequencies.keys()
        for name in held:
            frequency = frequencies[name]
            terms[name].new.append(high | (frequency if frequency < MOST_FREQUENT else MOST_FREQUENT))  # noqa: FURB136 - a call costs more
        self.cost += len(held)

    def shrink(self, keep: int) -> None:
        while self.cost > MAX_CACHED and len(self.terms) > keep:
            self.cost -= len(self.terms.popitem(last=False)[1])


class PostingCache:
    """Terms of one tenant by field."""

    def __init__(self) -> None:
        self._fields: dict[str, _Field] = {}

    def unknown(self, field: str, terms: Iterable[str]) -> list[str]:
        """Those that must be read first."""
        known = self._field(field).terms
        return [term for term in terms if term not in known]

    def put(self, field: str, term: str, postings: Postings) -> None:
        """Keep what was read."""
        self._field(field).put(term, Term(*postings))

    def get(self, field: str, terms: Iterable[str]) -> dict[str, Postings] | None:
        """Postings of the terms; None when one of them is not here."""
        known = self._field(field).terms
        found: dict[str, Postings] = {}
        for term in terms:
            if term not in known:
                return None
            known.move_to_end(term)
            found[term] = known[term].arrays()
        return found

    def add_row(self, slot: int, fields: Mapping[str, Mapping[str, int]]) -> None:
        """A new row: append to the terms that are known."""
        for field, frequencies in fields.items():
            self._field(field).add(slot, frequencies)

    def shrink(self, field: str, *, keep: int) -> None:
        """Forget the field's least recently used terms above the limit, but never the last `keep`."""
        self._field(field).shrink(keep)

    def clear(self) -> None:
        """Forget everything (slots were renumbered)."""
        self._fields.clear()

    def _field(self, name: str) -> _Field:
        return self._fields.setdefault(name, _Field())

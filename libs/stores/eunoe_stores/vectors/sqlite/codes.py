"""Small whole numbers for repeated values, so that filters compare arrays instead of texts."""

from __future__ import annotations

import json
from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from eunoe_contracts.content import Scalar
from numpy.typing import NDArray

LAST_CHARACTER = "\U0010ffff"


class Codes:
    """Gives each new text the next number. Numbers never change."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.values: list[str] = list(values)
        self._number: dict[str, int] = {value: number for number, value in enumerate(self.values)}

    def code(self, value: str) -> int:
        """The value's number."""
        number = self._number.get(value)
        if number is None:
            number = self._number[value] = len(self.values)
            self.values.append(value)
            self._added(value)
        return number

    def known(self, value: str) -> int | None:
        """The value's number if it has one."""
        return self._number.get(value)

    def chosen(self, numbers: Iterable[int | None]) -> NDArray[np.bool_]:
        """A table to look codes up in: true for the given ones."""
        table = np.zeros(len(self.values), dtype=np.bool_)
        table[[number for number in numbers if number is not None]] = True
        return table

    def compacted(self, column: NDArray[Any]) -> tuple[Self, NDArray[np.intp]]:
        """Codes of the values that the column uses, and the column in them. This object stays as it is, for running queries."""
        used, renumbered = np.unique(column, return_inverse=True)
        return type(self)([self.values[number] for number in used]), renumbered

    def _added(self, value: str) -> None:
        """Hook of subclasses."""


class Containers(Codes):
    """Container names, also by prefix."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        super().__init__(values)
        self._sorted = sorted(self.values)

    def matching(self, patterns: Iterable[str]) -> NDArray[np.bool_]:
        """Exact names, or those with the prefix before a closing `*`."""
        numbers: list[int | None] = []
        for pattern in patterns:
            if not pattern.endswith("*"):
                numbers.append(self.known(pattern))
                continue
            prefix = pattern[:-1]
            first, last = bisect_left(self._sorted, prefix), bisect_left(self._sorted, prefix + LAST_CHARACTER)
            numbers += [self.known(name) for name in self._sorted[first:last]]
        return self.chosen(numbers)

    def _added(self, value: str) -> None:
        insort(self._sorted, value)


class Profiles(Codes):
    """Combinations of tags and attributes; read only when a filter asks for them."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        super().__init__(values)
        self._read = 0
        self._tags: dict[str, set[int]] = {}
        self._attributes: dict[tuple[str, bool, Scalar], set[int]] = {}

    def matching(self, tags_any: frozenset[str], tags_all: frozenset[str], attributes: Mapping[str, Scalar]) -> NDArray[np.bool_]:
        """Profiles that satisfy all three conditions; an empty one asks nothing."""
        self._catch_up()
        sets: list[set[int]] = [self._tags.get(tag, set()) for tag in tags_all]
        sets += [self._attributes.get(_attribute(name, value), set()) for name, value in attributes.items()]
        if tags_any:
            sets.append(set().union(*(self._tags.get(tag, set()) for tag in tags_any)))
        return self.chosen(sorted(set.intersection(*sets)))

    def _catch_up(self) -> None:
        for number in range(self._read, len(self.values)):
            tags, attributes = json.loads(self.values[number])
            for tag in tags:
                self._tags.setdefault(tag, set()).add(number)
            for name, value in attributes.items():
                self._attributes.setdefault(_attribute(name, value), set()).add(number)
        self._read = len(self.values)


def _attribute(name: str, value: Scalar) -> tuple[str, bool, Scalar]:
    # Python finds True and 1 equal; a filter must not.
    return name, isinstance(value, bool), value

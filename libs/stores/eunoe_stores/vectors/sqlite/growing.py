"""Arrays of equal length that grow together by doubling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

SMALLEST = 64


class Growing:
    """Named columns. Slices that were handed out stay valid: growing and dropping rows make new arrays."""

    def __init__(self, **columns: NDArray[Any]) -> None:
        self.size = 0
        self._columns = columns

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The filled part of a column."""
        return self._columns[name][: self.size]

    def reserve(self, capacity: int) -> None:
        """Make room for that many rows in all."""
        for name, column in self._columns.items():
            if len(column) < capacity:
                grown = np.zeros((capacity, *column.shape[1:]), dtype=column.dtype)
                grown[: self.size] = column[: self.size]
                self._columns[name] = grown

    def extend(self, count: int, values: Mapping[str, ArrayLike]) -> None:
        """Append rows; columns without values get zeros."""
        needed = self.size + count
        if any(len(column) < needed for column in self._columns.values()):
            self.reserve(max(SMALLEST, needed, 2 * self.size))
        for name, value in values.items():
            self._columns[name][self.size : needed] = value
        self.size = needed

    def keep(self, mask: NDArray[np.bool_]) -> None:
        """Drop the rows that the mask leaves out."""
        kept = {name: self[name][mask] for name in self._columns}
        self._columns = kept
        self.size = int(mask.sum())

    def replace(self, name: str, column: NDArray[Any]) -> None:
        """Put another array in a column's place."""
        self._columns[name] = column.astype(self._columns[name].dtype)

"""Which offset of a partition may be committed while later records finish first."""

from __future__ import annotations

from collections import deque


class OffsetTracker:
    """Offsets of one partition. The commit is the lowest unfinished offset, so a crash loses no record."""

    def __init__(self) -> None:
        self._open: deque[int] = deque()
        self._done: set[int] = set()
        self._next: int | None = None
        self._committed: int | None = None

    def take(self, offset: int) -> None:
        """A record was fetched; offsets come in ascending order."""
        self._open.append(offset)

    def done(self, offset: int) -> None:
        """A record is finished. May be called twice."""
        self._done.add(offset)
        while self._open and self._open[0] in self._done:
            finished = self._open.popleft()
            self._done.discard(finished)
            self._next = finished + 1

    def uncommitted(self) -> int | None:
        """The next offset to read, to be committed; None when it was committed already."""
        return self._next if self._next != self._committed else None

    def committed(self, offset: int) -> None:
        """`uncommitted` was stored."""
        self._committed = offset

    def __len__(self) -> int:
        """Records fetched and not finished, with those that wait behind one."""
        return len(self._open)

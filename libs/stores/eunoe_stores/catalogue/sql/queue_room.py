"""How many more documents may be opened, without counting the open ones at each accept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from eunoe_contracts.errors import QueueFull
from eunoe_contracts.stages import DocumentStatus
from sqlalchemy import Connection, func, select, true

from eunoe_stores.catalogue.tables import documents

LONGEST_LOAN = 1_000
"""Other processes open documents too; after this many accepts the table is counted again."""

COUNT_OPEN = select(func.count()).where(documents.c.is_open == true(), documents.c.status != DocumentStatus.CANCELLED.value)


class QueueRoom:
    """Remembers the room seen at the last count and spends it; counts again when it is spent.

    Ends in between only make more room, so this process never passes the limit. On PostgreSQL a count misses the rows of this
    process's transactions that are not committed yet, so they are taken off it. A transaction that is rolled back loses a little
    room until the next count, no more. Several gateways together may pass the limit by `LONGEST_LOAN` each.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._limit = 0
        self._left = 0
        self._unfinished = 0

    @contextmanager
    def claim(self) -> Iterator[Claim]:
        """Room for one document, taken inside the block by the transaction that opens it; the block ends after the transaction."""
        claim = Claim(self)
        try:
            yield claim
        finally:
            if claim.taken:
                with self._lock:
                    self._unfinished -= 1

    def take(self, connection: Connection, limit: int) -> None:
        """Only for `Claim`: room for one more, not finished yet. Raises `QueueFull`."""
        with self._lock:
            if limit != self._limit or self._left <= 0:
                self._limit = limit
                # Read after the lock is held: whoever finished before is committed, and the count sees it.
                room = limit - int(connection.execute(COUNT_OPEN).scalar_one())
                # SQLite has one transaction at a time, and shows its own rows to it.
                unseen = 0 if connection.dialect.name == "sqlite" else self._unfinished
                self._left = min(room - unseen, LONGEST_LOAN)
            if self._left <= 0:
                raise QueueFull  # the gateway knows when to come back
            self._left -= 1
            self._unfinished += 1

    def spend(self) -> None:
        """One was opened without asking (a replay)."""
        with self._lock:
            self._left -= 1


class Claim:
    """One document's room. A transaction that runs twice takes it once."""

    def __init__(self, room: QueueRoom) -> None:
        self._room = room
        self.taken = False

    def take(self, connection: Connection, limit: int) -> None:
        """Raises `QueueFull` when `limit` documents are open."""
        if not self.taken:
            self._room.take(connection, limit)
            self.taken = True

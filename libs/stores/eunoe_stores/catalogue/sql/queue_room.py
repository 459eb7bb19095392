"""How many more documents may be opened, without counting the open ones at each accept."""

from __future__ import annotations

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

    Ends in between only make more room, so where writes follow one another (SQLite) the limit is never passed by this process.
    On PostgreSQL a count misses the rows of transactions that are not committed yet, so it may be passed by as many as accept at
    the same time. A transaction that is rolled back, or runs twice, loses a little room until the next count, no more.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._limit = 0
        self._left = 0

    def take(self, connection: Connection, limit: int) -> None:
        """Room for one more; raises `QueueFull` when `limit` documents are open."""
        with self._lock:
            if limit != self._limit or self._left <= 0:
                self._limit = limit
                self._left = min(limit - int(connection.execute(COUNT_OPEN).scalar_one()), LONGEST_LOAN)
            if self._left <= 0:
                raise QueueFull  # the gateway knows when to come back
            self._left -= 1

    def spend(self) -> None:
        """One was opened without asking (a replay)."""
        with self._lock:
            self._left -= 1

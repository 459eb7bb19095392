"""What the parts of the catalogue share: the database, who watches, and the room in the queue."""

from __future__ import annotations

from eunoe_stores.catalogue.sql.changes import Changes
from eunoe_stores.catalogue.sql.queue_room import QueueRoom
from eunoe_stores.sqlite.port import Database


class SqlPart:
    """Base of the parts; `SqlCatalogue` inherits them all, so that they share one of each."""

    def __init__(self, database: Database, *, watch_interval_s: float = 0.5) -> None:
        self._database = database
        self._watch_interval_s = watch_interval_s
        self._changes = Changes()
        self._queue_room = QueueRoom()

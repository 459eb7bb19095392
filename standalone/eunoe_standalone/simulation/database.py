"""The catalogue's database, with somebody who looks at it after every commit."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Self, TypeVar

from eunoe_stores.catalogue.migration import migrate
from eunoe_stores.testing.inline import InlineDatabase
from sqlalchemy import Connection

T = TypeVar("T")
Watcher = Callable[[sqlite3.Connection], None]


class WatchedDatabase(InlineDatabase):
    """Calls `watcher` after each commit; `commits` counts them."""

    def __init__(self) -> None:
        super().__init__()
        self.watcher: Watcher | None = None
        self.commits = 0

    async def write(self, work: Callable[[Connection], T], *, durable: bool = True, quick: bool = False) -> T:
        """See `Database.write`."""
        result = await super().write(work, durable=durable, quick=quick)
        self.commits += 1
        if self.watcher is not None:
            self.watcher(self.raw)
        return result

    @classmethod
    def migrated(cls) -> tuple[Self, bytes]:
        """A database with the catalogue's tables, and what to load to empty it again."""
        database = cls()
        asyncio.run(migrate(database))
        return database, database.save()

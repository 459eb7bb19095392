"""Topics by name: their number and their count of partitions, which never changes once a topic exists."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlalchemy import Connection

from eunoe_stream.sqlite import schema
from eunoe_stream.sqlite.database import Database


class Topic(NamedTuple):
    """A row of `log_topics`."""

    id: int
    name: str
    partitions: int


class TopicTable:
    """Cache over `log_topics`; also makes the tables at first use."""

    def __init__(self, database: Database, partitions: int) -> None:
        self._database = database
        self._partitions = partitions
        self._known: dict[str, Topic] = {}
        self._ready = False
        self._lock = asyncio.Lock()

    async def prepare(self) -> None:
        """Make the tables once. May be called twice."""
        if not self._ready:
            async with self._lock:
                if not self._ready:
                    await self._database.write(schema.create)
                    self._ready = True

    async def ensure(self, names: Iterable[str]) -> Mapping[str, Topic]:
        """The topics with these names, made where they do not exist."""
        wanted = set(names)
        if not wanted <= self._known.keys():
            await self.prepare()
            missing = wanted - self._known.keys()

            def work(connection: Connection) -> list[Topic]:
                connection.exec_driver_sql(
                    "INSERT OR IGNORE INTO log_topics (name, partitions) VALUES (?, ?)",
                    [(name, self._partitions) for name in sorted(missing)],
                )
                return _all(connection)

            # Remembered only after the commit: a rolled back row must not stay in the cache.
            self._known.update({each.name: each for each in await self._database.write(work)})
        return self._known

    async def starting_with(self, prefix: str) -> list[Topic]:
        """Existing topics whose names start so."""
        await self.prepare()
        return [each for each in await self._database.read(_all) if each.name.startswith(prefix)]


def _all(connection: Connection) -> list[Topic]:
    rows = connection.exec_driver_sql("SELECT id, name, partitions FROM log_topics")
    return [Topic(int(row[0]), str(row[1]), int(row[2])) for row in rows]

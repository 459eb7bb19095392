"""A catalogue for tests of other parts: the real one, on a file that the test throws away."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from eunoe_stores.catalogue.migration import migrate
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.sqlite.database import SqliteDatabase


@asynccontextmanager
async def open_memory_catalogue(folder: Path) -> AsyncIterator[SqlCatalogue]:
    """A migrated catalogue in `<folder>/eunoe.db`, not synced to disk at each commit; closed at the end."""
    database = SqliteDatabase(folder / "eunoe.db", synchronous="NORMAL", readers=2)
    try:
        await migrate(database)
        catalogue = SqlCatalogue(database, watch_interval_s=0.05)
        yield catalogue
        await catalogue.close()
    finally:
        await database.close()

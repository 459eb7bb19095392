"""The stores of one data directory, opened under its lock."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.errors import ConfigurationError
from eunoe_stores.blobs.folder import FolderBlobStore
from eunoe_stores.catalogue.migration import migrate
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.graph.sqlite import SqliteGraphStore
from eunoe_stores.sqlite.connections import FRUGAL
from eunoe_stores.sqlite.database import SqliteDatabase
from eunoe_stores.sqlite.lock import DataDirectoryLock
from eunoe_stores.vectors.sqlite import SqliteVectorIndex
from eunoe_stream.sqlite import SqliteLog

INDEX_NAME = "index.db"
POLL_S = 1.0
"""The lock keeps other processes out, so what is published is known from memory; the file is asked seldom."""


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """Every store of the embedded mode."""

    path: Path
    catalogue: SqlCatalogue
    log: SqliteLog
    vectors: SqliteVectorIndex
    graph: SqliteGraphStore
    blobs: FolderBlobStore

    def free_bytes(self) -> int:
        """Space left on the disk."""
        return shutil.disk_usage(self.path).free


@asynccontextmanager
async def open_data_directory(path: Path, *, clock: Clock, ids: Ids) -> AsyncIterator[DataDirectory]:
    """Open, migrate and release what a killed process held. Raises `DataDirectoryLocked`, `SchemaTooNew`, `ConfigurationError`."""
    made(path)
    lock = DataDirectoryLock(path)
    lock.acquire()
    try:
        database = SqliteDatabase(path / "eunoe.db", synchronous="FULL")
        try:
            index = SqliteDatabase(path / INDEX_NAME, synchronous="NORMAL", memory=FRUGAL)
            try:
                await migrate(database)
                stores = DataDirectory(
                    path,
                    SqlCatalogue(database),
                    SqliteLog(database, clock=clock, ids=ids, poll_s=POLL_S),
                    SqliteVectorIndex(index),
                    SqliteGraphStore(database),
                    FolderBlobStore(path / "blobs"),
                )
                await stores.vectors.prepare()
                await stores.log.release_leases()
                await stores.catalogue.release_claims(now=clock.now())
                yield stores
                await stores.log.close()
                await stores.catalogue.close()
                await stores.vectors.close()
            finally:
                await index.close()
        finally:
            await database.close()
    finally:
        lock.release()


def made(path: Path) -> None:
    """Make the directory, readable by its owner only. Raises `ConfigurationError`."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ConfigurationError(f"cannot make the data directory {path}: {error.strerror}") from error

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeAlias

import pytest
from eunoe_stores.sqlite.database import SqliteDatabase
from eunoe_stream.sqlite import SqliteLog
from eunoe_stream.testing import MemoryLog
from eunoe_telemetry.testing import ManualClock, SequentialIds

AnyLog: TypeAlias = SqliteLog | MemoryLog


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["memory", "sqlite"])
async def make_log(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Callable[[], AnyLog]]:
    """Makes logs; on a durable adapter, each further one is another process on the same data."""
    async with AsyncExitStack() as stack:
        if request.param == "memory":
            log = MemoryLog(clock=clock, ids=SequentialIds(), partitions=4)
            yield lambda: log
            return
        database = SqliteDatabase(tmp_path / "eunoe.db")
        stack.push_async_callback(database.close)
        ids = SequentialIds()
        yield lambda: SqliteLog(database, clock=clock, ids=ids, partitions=4)


@pytest.fixture
def log(make_log: Callable[[], AnyLog]) -> AnyLog:
    return make_log()

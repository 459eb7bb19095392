"""Writes and reads wait their turn before they take a connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from eunoe_stores.graph.neo4j.config import Neo4jSettings
from eunoe_stores.graph.neo4j.transactions import Transactions


class CountingDriver:
    """Sessions that count how many work at the same time."""

    def __init__(self) -> None:
        self.working = 0
        self.most = 0

    @asynccontextmanager
    async def session(self, **_: Any) -> AsyncIterator[CountingDriver]:
        self.working += 1
        self.most = max(self.most, self.working)
        try:
            yield self
        finally:
            self.working -= 1

    async def execute_write(self, work: Any) -> Any:
        return await work(None)


async def nothing(_: Any) -> list[int]:
    for _ in range(3):
        await asyncio.sleep(0)
    return [1]


@pytest.mark.parametrize(("kind", "most"), [("write", 2), ("read", 3)])
async def test_no_more_at_once_than_set(kind: str, most: int) -> None:
    driver = CountingDriver()
    settings = Neo4jSettings(_env_file=None, pool_size=5, writes_at_once=2)  # type: ignore[call-arg]
    transactions = Transactions(driver, settings)  # type: ignore[arg-type]
    found = await asyncio.gather(*(getattr(transactions, kind)(nothing) for _ in range(20)))
    assert found == [[1]] * 20
    assert driver.most == most


def test_writes_leave_connections_to_reads() -> None:
    with pytest.raises(ValueError, match="writes_at_once"):
        Neo4jSettings(_env_file=None, pool_size=8, writes_at_once=8)  # type: ignore[call-arg]

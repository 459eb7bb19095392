"""The server is down, stands still, or is killed while we write: our errors within the time-out, and nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest
from eunoe_contracts.errors import StoreUnavailable
from eunoe_stores.graph.neo4j import Neo4jSettings, open_neo4j
from eunoe_stores.graph.neo4j.store import Neo4jGraphStore
from eunoe_stores.graph.port import Edge, EdgeKind, Node
from eunoe_stores.testing import MemoryGraphStore
from servers.neo4j import Neo4j

pytestmark = [pytest.mark.servers, pytest.mark.timeout(240)]
Documents = Callable[..., tuple[UUID, list[Node], list[Edge]]]
WAIT_S = 2.0
GRACE_S = 2.0
"""Two cores, and other processes."""
PATIENCE_S = 60.0


@pytest.fixture
def impatient(settings: Neo4jSettings) -> Neo4jSettings:
    return settings.model_copy(update={"read_timeout_s": WAIT_S, "write_timeout_s": WAIT_S, "connect_timeout_s": 1.0})


async def refused(store: Neo4jGraphStore, tenant: str, document: Documents) -> list[float]:
    """Seconds after which each of several calls, made together, raised `StoreUnavailable`."""
    owner, nodes, edges = document(99)

    async def seconds(call: Callable[[], Awaitable[object]]) -> float:
        began = time.monotonic()
        with pytest.raises(StoreUnavailable):
            await call()
        return time.monotonic() - began

    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: store.count(tenant),
        lambda: store.neighbours(tenant, owner),
        lambda: store.hops(tenant, [owner], kinds=frozenset(), depth=2, fan_out=9),
        lambda: store.upsert(tenant, nodes, edges),
        lambda: store.delete_document(tenant, owner, through_generation=1),
    ]
    return list(await asyncio.gather(*(seconds(call) for call in calls * 2)))


async def enough(acknowledged: list[int], writers: list[asyncio.Task[None]]) -> None:
    """Until some documents are acknowledged, and the writers are still at it."""
    deadline = time.monotonic() + PATIENCE_S
    while len(acknowledged) < 24:
        assert time.monotonic() < deadline
        done, _ = await asyncio.wait(writers, timeout=0.05, return_when=asyncio.FIRST_COMPLETED)
        assert not done


async def eventually(call: Callable[[], Awaitable[object]]) -> None:
    """A server that has just come back is slow; the same store uses it again without being opened anew."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            await call()
        except StoreUnavailable:
            assert time.monotonic() < deadline
        else:
            return


async def test_a_server_that_stands_still_keeps_nobody_waiting(
    server: Neo4j, settings: Neo4jSettings, impatient: Neo4jSettings, tenant: str, document: Documents
):
    owner, nodes, edges = document(1)
    async with open_neo4j(settings) as patient, open_neo4j(impatient) as store:
        await patient.upsert(tenant, nodes, edges)
        await asyncio.gather(*(store.count(tenant) for _ in range(8)))
        server.freeze()
        try:
            assert max(await refused(store, tenant, document)) < WAIT_S + GRACE_S
            # Now without open connections.
            assert max(await refused(store, tenant, document)) < WAIT_S + GRACE_S
            began = time.monotonic()
            with pytest.raises(StoreUnavailable):
                async with open_neo4j(impatient):
                    pass
            assert time.monotonic() - began < WAIT_S + GRACE_S
        finally:
            server.thaw()
        assert await patient.count(tenant, document=owner) == 5
        await eventually(lambda: store.count(tenant))


async def test_a_kill_loses_nothing_that_was_acknowledged(
    server: Neo4j, settings: Neo4jSettings, impatient: Neo4jSettings, tenant: str, document: Documents
):
    acknowledged: list[int] = []
    async with open_neo4j(settings) as patient, open_neo4j(impatient) as store:

        async def write(number: int) -> None:
            while True:
                await patient.upsert(tenant, *document(number)[1:])
                acknowledged.append(number)
                number += 4

        writers = [asyncio.create_task(write(first)) for first in range(1, 5)]
        await enough(acknowledged, writers)
        server.kill()
        try:
            assert max(await refused(store, tenant, document)) < WAIT_S + GRACE_S
            with pytest.raises(StoreUnavailable):
                async with open_neo4j(impatient):
                    pass
            ends = await asyncio.gather(*writers, return_exceptions=True)
            assert {type(end) for end in ends} == {StoreUnavailable}
        finally:
            await asyncio.to_thread(server.start)
        drawn = [document(number)[1:] for number in acknowledged]
        expected = MemoryGraphStore()
        for nodes, edges in drawn:
            await expected.upsert(tenant, nodes, edges)
        keys = list({node.key for nodes, _ in drawn for node in nodes})
        assert await patient.nodes(tenant, keys) == await expected.nodes(tenant, keys)
        for kind in (EdgeKind.HAS_PASSAGE, EdgeKind.NEXT, EdgeKind.DERIVED_FROM, EdgeKind.MENTIONS):
            found, least = await patient.in_degree(tenant, keys, kind), await expected.in_degree(tenant, keys, kind)
            # What was not acknowledged may be there as well.
            assert all(found[key] >= least[key] for key in keys)
        # What was in the middle is written again, as it is.
        again = document(max(acknowledged) + 1)[1:]
        await patient.upsert(tenant, *again)
        await patient.upsert(tenant, *again)
        await eventually(lambda: store.count(tenant))

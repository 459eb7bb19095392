"""Writers at the same time: one node for one thing, no orphan, no lost edge, nothing left of an end without a node."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest
from eunoe_stores.graph.neo4j import Neo4jSettings, open_neo4j
from eunoe_stores.graph.neo4j.store import Neo4jGraphStore
from eunoe_stores.graph.port import Edge, EdgeKind, Node, NodeKind
from eunoe_stores.testing import MemoryGraphStore

pytestmark = [pytest.mark.servers, pytest.mark.timeout(180)]
Documents = Callable[..., tuple[UUID, list[Node], list[Edge]]]
Cypher = Callable[..., Awaitable[list[list[Any]]]]
WITHOUT_NODE = "MATCH (n:EunoeNode) WHERE n.tenant = $tenant AND n.kind IS NULL RETURN count(n)"


async def test_sixteen_writers_of_one_entity_make_one_node(store: Neo4jGraphStore, tenant: str, cypher: Cypher):
    ada = Node(UUID(int=5), NodeKind.ENTITY, UUID(int=5), "team", name="Ada")

    async def write(number: int) -> None:
        passage, document = UUID(int=100 + number), UUID(int=1_000 + number)
        node = Node(passage, NodeKind.PASSAGE, passage, "team", document, 1)
        await store.upsert(tenant, [node, ada], [Edge(passage, EdgeKind.MENTIONS, ada.key, document, 1)])

    await asyncio.gather(*(write(number) for number in range(16)))
    assert await cypher("MATCH (n:EunoeNode) WHERE n.tenant = $tenant AND n.kind = 'entity' RETURN count(n)", tenant=tenant) == [[1]]
    assert await store.in_degree(tenant, [ada.key], EdgeKind.MENTIONS) == {ada.key: 16}


async def test_writers_of_one_edge_make_one_edge(store: Neo4jGraphStore, tenant: str, cypher: Cypher):
    edge = Edge(UUID(int=1), EdgeKind.NEXT, UUID(int=2), UUID(int=9), 1)
    await asyncio.gather(*(store.upsert(tenant, [], [edge]) for _ in range(16)))
    assert await cypher("MATCH ()-[r:NEXT]->() WHERE r.tenant = $tenant RETURN count(r)", tenant=tenant) == [[1]]


async def test_documents_that_share_everything_come_and_go_together(
    settings: Neo4jSettings, tenant: str, document: Documents, shared: list[UUID], cypher: Cypher
):
    chance = random.Random(7)
    stay = {number: chance.random() < 0.5 for number in range(1, 13)}
    async with open_neo4j(settings) as first, open_neo4j(settings) as second:

        async def live(number: int) -> None:
            store = first if number % 2 else second
            owner, nodes, edges = document(number)
            for _ in range(2):
                await store.upsert(tenant, nodes, edges)
                assert await store.delete_document(tenant, owner, through_generation=1) >= 5
            if stay[number]:
                await store.upsert(tenant, nodes, edges)

        await asyncio.gather(*(live(number) for number in stay))
        expected = MemoryGraphStore()
        keys = [*shared]
        for number, stays in stay.items():
            _, nodes, edges = document(number)
            keys += [node.key for node in nodes]
            if stays:
                await expected.upsert(tenant, nodes, edges)
        assert await first.nodes(tenant, keys) == await expected.nodes(tenant, keys)
        assert await first.count(tenant) == await expected.count(tenant)
        assert await first.count_edges(tenant) == await expected.count_edges(tenant)
        for kind in EdgeKind:
            assert await first.in_degree(tenant, keys, kind) == await expected.in_degree(tenant, keys, kind)
        assert await cypher(WITHOUT_NODE, tenant=tenant) == [[0]]

        await asyncio.gather(*(second.delete_document(tenant, document(number)[0], through_generation=1) for number in stay))
        assert await cypher("MATCH (n:EunoeNode) WHERE n.tenant = $tenant RETURN count(n)", tenant=tenant) == [[0]]


async def test_ends_without_a_node_are_shown_to_nobody_and_go_with_their_edges(store: Neo4jGraphStore, tenant: str, cypher: Cypher):
    owner, other = UUID(int=9), UUID(int=10)
    source, missing = UUID(int=1), UUID(int=2)
    await store.upsert(tenant, [Node(source, NodeKind.PASSAGE, source, "team", owner, 1)], [])
    await store.upsert(tenant, [], [Edge(source, EdgeKind.NEXT, missing, other, 1), Edge(missing, EdgeKind.NEXT, UUID(int=3), other, 1)])
    assert await cypher(WITHOUT_NODE, tenant=tenant) == [[2]]
    assert await store.nodes(tenant, [missing]) == {}
    assert await store.neighbours(tenant, source) == []
    assert await store.hops(tenant, [source], kinds=frozenset(), depth=3, fan_out=9) == {}
    assert await store.by_name(tenant, [""], kinds=frozenset(), containers=()) == [*(await store.nodes(tenant, [source])).values()]
    assert await store.documents(tenant) == [(owner, 1)]
    assert await store.count(tenant) == 1
    assert await store.delete_nodes(tenant, [UUID(int=3)]) == 0
    assert await cypher(WITHOUT_NODE, tenant=tenant) == [[1]]
    assert await store.delete_document(tenant, other, through_generation=1) == 0
    assert await cypher(WITHOUT_NODE, tenant=tenant) == [[0]]

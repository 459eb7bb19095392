"""What people write in names and properties is data, whatever it looks like, and however long it is."""

from __future__ import annotations

from uuid import UUID

import pytest
from eunoe_contracts.content import Scalar
from eunoe_contracts.errors import InvalidField
from eunoe_stores.graph.neo4j.store import Neo4jGraphStore
from eunoe_stores.graph.port import Node, NodeKind

pytestmark = [pytest.mark.servers, pytest.mark.timeout(180)]
NAMES = [
    'it\'s "quoted" `back-ticked` \\ and $tenant',
    "'}) DETACH DELETE n //",
    "a\u0000b\u200d\U0001f469\u200d\U0001f52c \u202e",
    "日本語の名前" * 2_000,
    "x" * 40_000,
    "y" * 3_000_000,
    "İstanbul ẞ Ⅷ",
]


async def test_names_come_back_and_are_found(store: Neo4jGraphStore, tenant: str):
    nodes = [Node(UUID(int=at), NodeKind.ENTITY, UUID(int=at), name[:200].replace("*", ""), name=name) for at, name in enumerate(NAMES)]
    await store.upsert(tenant, nodes, [])
    for node in nodes:
        assert await store.by_name(tenant, [node.name], kinds=frozenset({NodeKind.ENTITY}), containers=(node.container,)) == [node]
        assert await store.by_name(tenant, [node.name], kinds=frozenset(), containers=(node.container[:3] + "*",)) == [node]
    assert await store.count(tenant) == len(nodes)


async def test_properties_come_back_as_they_were(store: Neo4jGraphStore, tenant: str):
    properties: dict[str, Scalar] = {"ordinal": 2**70, "`key`": "\u0000", "": None, "number": 1e300, "yes": True, "long": "z" * 100_000}
    node = Node(UUID(int=1), NodeKind.PASSAGE, UUID(int=1), "team", UUID(int=2), 1, properties=properties)
    await store.upsert(tenant, [node], [])
    assert await store.nodes(tenant, [node.key]) == {node.key: node}


async def test_replacing_a_node_takes_away_what_it_has_no_more(store: Neo4jGraphStore, tenant: str):
    key = UUID(int=1)
    await store.upsert(tenant, [Node(key, NodeKind.PASSAGE, key, "team", UUID(int=2), 1, "Name", {"ordinal": 3})], [])
    bare = Node(key, NodeKind.MEMORY, key, "else")
    await store.upsert(tenant, [bare], [])
    assert await store.nodes(tenant, [key]) == {key: bare}
    assert await store.by_name(tenant, ["name"], kinds=frozenset(), containers=()) == []
    assert await store.documents(tenant) == []


async def test_a_name_that_is_no_tenant_is_refused(store: Neo4jGraphStore):
    with pytest.raises(InvalidField):
        await store.upsert("t'})", [], [])

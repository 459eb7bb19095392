"""What does not fit into one transaction or one statement: nothing is lost at the seams, no orphan is left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest
from eunoe_stores.graph.neo4j import removal, rows, writing
from eunoe_stores.graph.neo4j.store import Neo4jGraphStore
from eunoe_stores.graph.port import Edge, EdgeKind, Node
from eunoe_stores.testing import MemoryGraphStore

pytestmark = [pytest.mark.servers, pytest.mark.timeout(180)]
Documents = Callable[..., tuple[UUID, list[Node], list[Edge]]]
Cypher = Callable[..., Awaitable[list[list[Any]]]]


async def test_large_documents_come_and_go_in_pieces(
    store: Neo4jGraphStore, tenant: str, document: Documents, cypher: Cypher, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(rows, "ROWS", 10)
    monkeypatch.setattr(writing, "ROWS", 10)
    monkeypatch.setattr(removal, "MOST_NODES", 7)
    expected = MemoryGraphStore()
    for number in (1, 2):
        _, nodes, edges = document(number, passages=30)
        await store.upsert(tenant, nodes, edges)
        await expected.upsert(tenant, nodes, edges)
    keys = [node.key for number in (1, 2) for node in document(number, passages=30)[1]]
    assert await store.nodes(tenant, keys) == await expected.nodes(tenant, keys)
    assert await store.count_edges(tenant) == await expected.count_edges(tenant)
    hops = {"kinds": frozenset[EdgeKind](), "depth": 3, "fan_out": 40}
    assert await store.hops(tenant, keys[:25], **hops) == await expected.hops(tenant, keys[:25], **hops)
    for number in (1, 2):
        owner = document(number)[0]
        removed = await store.delete_document(tenant, owner, through_generation=1)
        assert removed == await expected.delete_document(tenant, owner, through_generation=1)
        assert await store.nodes(tenant, keys) == await expected.nodes(tenant, keys)
        assert await store.count_edges(tenant) == await expected.count_edges(tenant)
    assert await cypher("MATCH (n:EunoeNode) WHERE n.tenant = $tenant RETURN count(n)", tenant=tenant) == [[0]]

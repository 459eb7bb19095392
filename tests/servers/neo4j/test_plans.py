"""Every statement of the adapter finds its rows by an index, and reads no more than it must."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any
from uuid import UUID

import pytest
from eunoe_stores.graph.neo4j import transactions
from eunoe_stores.graph.neo4j.store import Neo4jGraphStore
from eunoe_stores.graph.port import Edge, EdgeKind, Node, NodeKind
from neo4j import AsyncResult

pytestmark = [pytest.mark.servers, pytest.mark.timeout(180)]
Plan = dict[str, Any]
DOCUMENT, SESSION, HUB = UUID(int=1), UUID(int=2), UUID(int=3)
TURNS = 400


class Profile:
    """The plans of the statements since the last look."""

    def __init__(self) -> None:
        self.plans: list[Plan] = []

    def operators(self) -> dict[str, list[str]]:
        """What each kind of operator does."""
        found: dict[str, list[str]] = {}
        for each in (each for plan in self.plans for each in _all(plan)):
            found.setdefault(str(each["operatorType"]).split("@")[0], []).append(str(each["args"].get("Details", "")))
        return found

    def hits(self) -> int:
        return sum(each.get("dbHits", 0) for plan in self.plans for each in _all(plan))


def _all(plan: Plan) -> Iterator[Plan]:
    yield plan
    for child in plan.get("children", ()):
        yield from _all(child)


@pytest.fixture
def profile(monkeypatch: pytest.MonkeyPatch) -> Profile:
    profile, values = Profile(), AsyncResult.values

    async def profiled(self: AsyncResult) -> list[list[Any]]:
        rows = await values(self)
        plan = (await self.consume()).profile
        assert plan is not None
        profile.plans.append(plan)
        return rows

    monkeypatch.setattr(transactions, "DIALECT", f"PROFILE {transactions.DIALECT}")
    monkeypatch.setattr(AsyncResult, "values", profiled)
    return profile


def session() -> tuple[list[Node], list[Edge]]:
    """A session of many turns, each a document with a passage that mentions one name."""
    turns = [UUID(int=1_000 + number) for number in range(TURNS)]
    nodes = [Node(key, NodeKind.PASSAGE, key, "team", UUID(int=key.int * 1_000), 1, properties={"ordinal": 0}) for key in turns]
    nodes += [Node(SESSION, NodeKind.SESSION, SESSION, "team", name="s"), Node(HUB, NodeKind.ENTITY, HUB, "team", name="Ada")]
    edges = [Edge(SESSION, EdgeKind.HAS_PASSAGE, key, UUID(int=key.int * 1_000), 1, float(at)) for at, key in enumerate(turns)]
    edges += [Edge(key, EdgeKind.MENTIONS, HUB, UUID(int=key.int * 1_000), 1) for key in turns]
    return nodes, edges


@pytest.fixture
async def filled(store: Neo4jGraphStore, tenant: str) -> Neo4jGraphStore:
    await store.upsert(tenant, *session())
    return store


async def test_no_statement_scans(filled: Neo4jGraphStore, tenant: str, profile: Profile):
    key = UUID(int=1_000)
    calls: Sequence[Callable[[], Awaitable[object]]] = [
        lambda: filled.neighbours(tenant, key),
        lambda: filled.neighbours(tenant, key, kinds=frozenset({EdgeKind.MENTIONS}), outgoing=True),
        lambda: filled.beside(tenant, SESSION, EdgeKind.HAS_PASSAGE, weight=50.0, but=DOCUMENT),
        lambda: filled.beside(tenant, SESSION, EdgeKind.NEXT, weight=50.0, but=DOCUMENT),
        lambda: filled.hops(tenant, [key], kinds=frozenset(), depth=2, fan_out=9, containers=("team", "te*")),
        lambda: filled.in_degree(tenant, [HUB, key], EdgeKind.MENTIONS),
        lambda: filled.by_name(tenant, ["Ada", "Bob"], kinds=frozenset({NodeKind.ENTITY}), containers=("team",)),
        lambda: filled.by_name(tenant, ["Ada"], kinds=frozenset(), containers=()),
        lambda: filled.nodes(tenant, [key, HUB]),
        lambda: filled.by_public_id(tenant, [key, HUB]),
        lambda: filled.count(tenant),
        lambda: filled.count(tenant, document=UUID(int=1_000_000)),
        lambda: filled.count_edges(tenant),
        lambda: filled.documents(tenant),
        lambda: filled.upsert(tenant, *session()),
        lambda: filled.delete_nodes(tenant, [UUID(int=1_001)]),
        lambda: filled.delete_document(tenant, UUID(int=1_000_000), through_generation=1),
    ]
    for call in calls:
        profile.plans.clear()
        await call()
        operators = profile.operators()
        assert not {name: details for name, details in operators.items() if "Scan" in name}
        assert {name for name in operators if "IndexSeek" in name}


async def test_a_turn_of_a_long_session_reads_its_two_sides_only(filled: Neo4jGraphStore, tenant: str, profile: Profile):
    before, after = await filled.beside(tenant, SESSION, EdgeKind.HAS_PASSAGE, weight=200.0, but=DOCUMENT)
    assert before is not None
    assert after is not None
    assert (before.key.int, after.key.int) == (1_199, 1_201)
    assert "DirectedRelationshipIndexSeek" in profile.operators()
    assert profile.hits() < 150


async def test_the_degree_of_a_hub_is_not_counted_edge_by_edge(filled: Neo4jGraphStore, tenant: str, profile: Profile):
    assert await filled.in_degree(tenant, [HUB], EdgeKind.MENTIONS) == {HUB: TURNS}
    assert profile.hits() < 20


async def test_a_hub_is_read_up_to_the_bound_only(filled: Neo4jGraphStore, tenant: str, profile: Profile):
    found = await filled.hops(tenant, [UUID(int=1_000)], kinds=frozenset({EdgeKind.MENTIONS}), depth=2, fan_out=9)
    assert found == {HUB: 1}
    assert profile.hits() < 150

"""What every GraphStore does. A new adapter is one more entry in `STORES`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest
from eunoe_contracts.errors import SchemaTooNew
from eunoe_stores.graph.neo4j import Neo4jSettings, open_neo4j
from eunoe_stores.graph.port import Edge, EdgeKind, GraphStore, Node, NodeKind
from eunoe_stores.graph.sqlite import SqliteGraphStore
from eunoe_stores.sqlite.connections import raw
from eunoe_stores.sqlite.database import SqliteDatabase
from eunoe_stores.testing import MemoryGraphStore

DOCUMENT, OTHER = UUID(int=1_000), UUID(int=2_000)
NONE: frozenset[EdgeKind] = frozenset()


@pytest.fixture(params=["memory", "sqlite", pytest.param("neo4j", marks=[pytest.mark.servers, pytest.mark.timeout(300)])])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[GraphStore]:
    if request.param == "memory":
        yield MemoryGraphStore()
        return
    if request.param == "neo4j":
        server = request.getfixturevalue("servers")["neo4j"]
        values = {key.removeprefix("EUNOE_NEO4J__").lower(): value for key, value in server.settings().items()}
        async with open_neo4j(Neo4jSettings.model_validate(values)) as opened:
            yield opened
            await opened._transactions.write(lambda ask: ask("MATCH (n:EunoeNode) WHERE n.tenant IN ['t', 'u'] DETACH DELETE n"))
        return
    database = SqliteDatabase(tmp_path / "eunoe.db", synchronous="NORMAL")
    yield SqliteGraphStore(database)
    await database.close()


def node(
    number: int,
    kind: NodeKind = NodeKind.PASSAGE,
    *,
    container: str = "team",
    document: UUID | None = DOCUMENT,
    generation: int = 1,
    public: int = 0,
    name: str = "",
) -> Node:
    return Node(
        UUID(int=number), kind, UUID(int=public or number), container, document, generation, name, {"ordinal": number, "note": None}
    )


def entity(number: int, name: str = "Ada", *, container: str = "team") -> Node:
    return node(number, NodeKind.ENTITY, document=None, name=name, container=container)


def edge(
    source: int, target: int, kind: EdgeKind = EdgeKind.NEXT, *, weight: float = 1.0, document: UUID = DOCUMENT, generation: int = 1
) -> Edge:
    return Edge(UUID(int=source), kind, UUID(int=target), document, generation, weight)


def numbered(keys: object) -> dict[int, int]:
    assert isinstance(keys, dict)
    return {key.int: distance for key, distance in keys.items()}


async def test_nodes_come_back_as_they_were(store: GraphStore) -> None:
    first, second = node(1, name="Ünï"), entity(2)
    await store.upsert("t", [first, second], [])
    await store.upsert("t", [first, second], [])
    assert await store.nodes("t", [first.key, second.key, UUID(int=9)]) == {first.key: first, second.key: second}
    assert (await store.count("t"), await store.count("t", document=DOCUMENT), await store.count("u")) == (2, 1, 0)
    assert await store.documents("t") == [(DOCUMENT, 1)]


async def test_neighbours_both_ways_heaviest_first(store: GraphStore) -> None:
    edges = [edge(1, 2, weight=0.5), edge(3, 1, EdgeKind.HAS_PASSAGE, weight=2), edge(1, 4), edge(1, 99, weight=9)]
    await store.upsert("t", [], edges)
    await store.upsert("t", [node(number) for number in range(1, 5)], [edge(1, 2, weight=0.25, document=OTHER)])
    found = await store.neighbours("t", UUID(int=1))
    assert [(each.node.key.int, each.kind, each.weight, each.outgoing) for each in found] == [
        (3, EdgeKind.HAS_PASSAGE, 2.0, False),
        (4, EdgeKind.NEXT, 1.0, True),
        (2, EdgeKind.NEXT, 0.5, True),
    ]
    assert [each.node.key.int for each in await store.neighbours("t", UUID(int=1), outgoing=True, limit=1)] == [4]
    assert [each.node.key.int for each in await store.neighbours("t", UUID(int=1), kinds=frozenset({EdgeKind.HAS_PASSAGE}))] == [3]
    assert await store.neighbours("t", UUID(int=1), kinds=frozenset({EdgeKind.HAS_PASSAGE}), outgoing=True) == []
    assert await store.neighbours("u", UUID(int=1)) == []


async def test_hops_know_their_distance(store: GraphStore) -> None:
    await store.upsert("t", [node(number) for number in range(1, 7)], [edge(1, 2), edge(3, 2), edge(3, 4), edge(4, 5), edge(5, 1)])
    start = [UUID(int=1)]
    assert numbered(await store.hops("t", start, kinds=NONE, depth=1, fan_out=9)) == {2: 1, 5: 1}
    assert numbered(await store.hops("t", start, kinds=NONE, depth=9, fan_out=9)) == {2: 1, 5: 1, 3: 2, 4: 2}
    assert numbered(await store.hops("t", start, kinds=frozenset({EdgeKind.MENTIONS}), depth=9, fan_out=9)) == {}
    assert numbered(await store.hops("t", start, kinds=NONE, depth=0, fan_out=9)) == {}
    assert numbered(await store.hops("t", [UUID(int=1), UUID(int=4)], kinds=NONE, depth=1, fan_out=9)) == {2: 1, 5: 1, 3: 1}


async def test_a_hub_is_reached_but_not_passed(store: GraphStore) -> None:
    hub = entity(500)
    mentions = [edge(number, 500, EdgeKind.MENTIONS) for number in range(1, 31)]
    await store.upsert("t", [hub, *(node(number) for number in range(1, 31))], mentions)
    kinds = frozenset({EdgeKind.MENTIONS})
    assert numbered(await store.hops("t", [UUID(int=1)], kinds=kinds, depth=2, fan_out=29)) == {500: 1}
    assert len(await store.hops("t", [UUID(int=1)], kinds=kinds, depth=2, fan_out=30)) == 30
    assert len(await store.hops("t", [hub.key], kinds=kinds, depth=2, fan_out=5)) == 30


async def test_foreign_containers_are_left_out_before_counting(store: GraphStore) -> None:
    mine = [node(number, container="mine") for number in range(1, 4)]
    theirs = [node(number, container="theirs") for number in range(10, 40)]
    hub = entity(500, container="mine.sub")
    edges = [edge(each.key.int, 500, EdgeKind.MENTIONS) for each in [*mine, *theirs]]
    await store.upsert("t", [hub, *mine, *theirs], edges)
    for containers in (("mine", "mine.sub"), ("mine*",)):
        found = await store.hops("t", [UUID(int=1)], kinds=NONE, depth=2, fan_out=5, containers=containers)
        assert numbered(found) == {500: 1, 2: 2, 3: 2}
    assert numbered(await store.hops("t", [UUID(int=1)], kinds=NONE, depth=2, fan_out=50, containers=("mine",))) == {}


async def test_in_degree_counts_edges_of_a_kind(store: GraphStore) -> None:
    await store.upsert("t", [], [edge(1, 9), edge(2, 9), edge(9, 1), edge(3, 9, EdgeKind.MENTIONS)])
    found = await store.in_degree("t", [UUID(int=9), UUID(int=1), UUID(int=7)], EdgeKind.NEXT)
    assert found == {UUID(int=9): 2, UUID(int=1): 1, UUID(int=7): 0}


async def test_names_are_normalised(store: GraphStore) -> None:
    ada, other, title = entity(1, "Ada  LOVELACE"), entity(2, "ada lovelace", container="else"), node(3, NodeKind.DOCUMENT, name="Report.")
    await store.upsert("t", [ada, other, title], [])
    entities = frozenset({NodeKind.ENTITY})
    assert await store.by_name("t", ["ada lovelace."], kinds=entities, containers=()) == [ada, other]
    assert await store.by_name("t", ["Ada Lovelace", "report"], kinds=frozenset(), containers=("team",)) == [ada, title]
    assert await store.by_name("t", ["report"], kinds=entities, containers=()) == []
    assert await store.by_name("t", [], kinds=entities, containers=()) == []


async def test_the_newest_generation_answers_for_a_public_id(store: GraphStore) -> None:
    await store.upsert("t", [node(2, public=50, generation=2), node(1, public=50, generation=1)], [])
    found = await store.by_public_id("t", [UUID(int=50), UUID(int=51)])
    assert {public.int: each.key.int for public, each in found.items()} == {50: 2}


async def test_deleting_a_document_takes_what_only_it_held(store: GraphStore) -> None:
    session = node(700, NodeKind.SESSION, document=None)
    memory, both = node(800, NodeKind.MEMORY, document=None), node(801, NodeKind.MEMORY, document=None)
    shared, own, unmentioned = entity(500), entity(501), entity(502)
    await store.upsert(
        "t",
        [node(1), node(2, generation=2), node(3, document=OTHER), shared, own, unmentioned, session, memory, both],
        [
            edge(1, 500, EdgeKind.MENTIONS),
            edge(1, 501, EdgeKind.MENTIONS),
            edge(501, 500, EdgeKind.DERIVES),
            edge(3, 500, EdgeKind.MENTIONS, document=OTHER),
            edge(700, 1, EdgeKind.HAS_PASSAGE),
            edge(800, 1, EdgeKind.DERIVED_FROM),
            edge(801, 1, EdgeKind.DERIVED_FROM),
            edge(801, 3, EdgeKind.DERIVED_FROM, document=OTHER),
            edge(3, 1, EdgeKind.MENTIONS_DOCUMENT, document=OTHER),
        ],
    )
    assert await store.delete_document("t", OTHER, through_generation=0) == 0
    assert await store.delete_document("t", DOCUMENT, through_generation=1) == 4
    assert await store.delete_document("t", DOCUMENT, through_generation=1) == 0
    left = await store.nodes("t", [UUID(int=number) for number in (1, 2, 3, 500, 501, 502, 700, 800, 801)])
    assert sorted(key.int for key in left) == [2, 3, 500, 502, 801]
    assert sorted(each.node.key.int for each in await store.neighbours("t", UUID(int=3))) == [500, 801]
    assert await store.in_degree("t", [UUID(int=1)], EdgeKind.MENTIONS_DOCUMENT) == {UUID(int=1): 0}
    assert await store.documents("t") == [(DOCUMENT, 2), (OTHER, 1)]


async def test_deleting_a_memory_takes_its_entities(store: GraphStore) -> None:
    memory = node(800, NodeKind.MEMORY, document=None)
    await store.upsert("t", [memory, entity(500)], [edge(800, 500, EdgeKind.MENTIONS)])
    assert await store.delete_nodes("t", [memory.key, UUID(int=12)]) == 2
    assert await store.count("t") == 0


async def test_a_late_older_generation_does_not_take_an_edge_back(store: GraphStore) -> None:
    both = [node(1, document=OTHER), node(2, document=OTHER)]
    await store.upsert("t", both, [edge(1, 2, generation=2)])
    await store.upsert("t", both, [edge(1, 2, generation=1)])
    await store.delete_document("t", DOCUMENT, through_generation=1)
    assert len(await store.neighbours("t", UUID(int=1))) == 1


async def test_one_generation_goes_without_the_older_ones(store: GraphStore) -> None:
    await store.upsert("t", [node(1), node(2, generation=2), entity(500)], [edge(1, 500, EdgeKind.MENTIONS)])
    await store.upsert("t", [entity(501)], [edge(2, 500, EdgeKind.MENTIONS, generation=2), edge(2, 501, EdgeKind.MENTIONS, generation=2)])
    assert await store.delete_document("t", DOCUMENT, from_generation=2, through_generation=2) == 2
    assert await store.documents("t") == [(DOCUMENT, 1)]
    assert await store.count_edges("t") == {EdgeKind.MENTIONS: 1}


async def test_tenants_are_apart(store: GraphStore) -> None:
    await store.upsert("t", [node(1), entity(500)], [edge(1, 500, EdgeKind.MENTIONS)])
    await store.upsert("u", [node(1), entity(500)], [edge(1, 500, EdgeKind.MENTIONS)])
    assert await store.delete_document("u", DOCUMENT, through_generation=9) == 2
    assert await store.count("t") == 2
    assert numbered(await store.hops("t", [UUID(int=1)], kinds=NONE, depth=1, fan_out=9)) == {500: 1}
    assert numbered(await store.hops("u", [UUID(int=1)], kinds=NONE, depth=1, fan_out=9)) == {}


async def test_edges_are_counted_by_kind(store: GraphStore) -> None:
    assert await store.count_edges("t") == {}
    other = UUID(int=4242)
    made = [edge(1, 2, EdgeKind.NEXT), edge(1, 500, EdgeKind.MENTIONS), edge(2, 500, EdgeKind.MENTIONS)]
    await store.upsert("t", [node(1), node(2), entity(500)], [*made, edge(1, 500, EdgeKind.MENTIONS, document=other)])
    await store.upsert("t", [], made)
    await store.upsert("u", [], made[:1])
    assert await store.count_edges("t") == {EdgeKind.NEXT: 1, EdgeKind.MENTIONS: 3}
    await store.delete_document("t", other, through_generation=1)
    assert await store.count_edges("t") == {EdgeKind.NEXT: 1, EdgeKind.MENTIONS: 2}


async def test_many_documents_at_once(store: GraphStore) -> None:
    async def one(number: int) -> None:
        document = UUID(int=number)
        nodes = [node(number * 100 + each, document=document) for each in range(10)]
        edges = [edge(each.key.int, 5, EdgeKind.MENTIONS, document=document) for each in nodes]
        await store.upsert("t", [*nodes, entity(5)], edges)
        if number % 2:
            assert await store.delete_document("t", document, through_generation=1) >= 10

    await asyncio.gather(*(one(number) for number in range(1, 21)))
    assert await store.in_degree("t", [UUID(int=5)], EdgeKind.MENTIONS) == {UUID(int=5): 100}
    assert await store.count("t") == 101


async def test_sqlite_tables_survive_and_newer_ones_are_refused(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "eunoe.db")
    await SqliteGraphStore(database).upsert("t", [node(1)], [])
    await database.close()
    database = SqliteDatabase(tmp_path / "eunoe.db")
    assert await SqliteGraphStore(database).count("t") == 1
    await database.write(lambda connection: raw(connection).execute("UPDATE graph_meta SET value = '99'") and None)
    with pytest.raises(SchemaTooNew):
        await SqliteGraphStore(database).count("t")
    await database.close()


async def test_beside_finds_what_comes_before_and_after_in_the_order_of_weights(store: GraphStore):
    kind, session = EdgeKind.HAS_PASSAGE, UUID(int=99)
    nodes = [node(number) for number in (1, 2, 3, 4, 6)] + [node(5, generation=2)]
    weights = {1: 1.0, 2: 1.0, 3: 2.0, 4: 5.0, 5: 5.0, 6: 5.0, 7: 3.0}
    await store.upsert("t", nodes, [edge(99, number, kind, weight=weight) for number, weight in weights.items()])
    await store.upsert("t", [node(8, document=OTHER)], [edge(99, 8, kind, weight=2.5, document=OTHER), edge(99, 3, weight=9.0)])

    async def beside(weight: float, but: UUID = OTHER) -> list[int | None]:
        found = await store.beside("t", session, kind, weight=weight, but=but)
        return [each and each.key.int for each in found]

    assert await beside(2.0) == [2, 5]  # the last of weight 1; of weight 5 the newest generation; 7 has no node
    assert await beside(2.0, but=UUID(int=7)) == [2, 8]
    assert await beside(1.0) == [None, 3]
    assert await beside(9.0) == [5, None]
    assert await store.beside("other", session, kind, weight=2.0, but=OTHER) == (None, None)


async def test_the_turns_of_a_long_session_are_found_by_an_index(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "eunoe.db", synchronous="NORMAL")
    store = SqliteGraphStore(database)
    await store.prepare()
    statement = (
        "EXPLAIN QUERY PLAN SELECT target FROM graph_edges e WHERE e.tenant = 't' AND e.source = x'00' AND e.kind = 'has_passage'"
        " AND e.weight < 5 ORDER BY e.weight DESC LIMIT 1"
    )
    plan = await database.read(lambda connection: [row[3] for row in raw(connection).execute(statement)])
    await database.close()
    assert len(plan) == 1
    assert "graph_edges_weight" in plan[0]

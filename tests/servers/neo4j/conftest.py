"""A store on the real server, a tenant of the test's own, documents that share things, and what is stored, read without the adapter."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import pytest
from eunoe_stores.graph.neo4j import Neo4jSettings, open_neo4j
from eunoe_stores.graph.neo4j.store import Neo4jGraphStore
from eunoe_stores.graph.port import Edge, EdgeKind, Node, NodeKind
from neo4j import AsyncGraphDatabase
from servers.fixtures import Servers
from servers.neo4j import Neo4j

Cypher = Callable[..., Awaitable[list[list[Any]]]]
ENTITIES = [UUID(int=9_000_000 + number) for number in range(12)]
MEMORIES = [UUID(int=9_100_000 + number) for number in range(4)]
SESSION = UUID(int=9_200_000)


@pytest.fixture
def server(servers: Servers) -> Neo4j:
    server = servers["neo4j"]
    assert isinstance(server, Neo4j)
    return server


@pytest.fixture
def settings(server: Neo4j) -> Neo4jSettings:
    values = {key.removeprefix("EUNOE_NEO4J__").lower(): value for key, value in server.settings().items()}
    return Neo4jSettings.model_validate(values)


@pytest.fixture
async def cypher(settings: Neo4jSettings) -> AsyncIterator[Cypher]:
    """Run a statement beside the adapter."""
    auth = (settings.user, settings.password.get_secret_value())
    async with AsyncGraphDatabase.driver(settings.uri, auth=auth, telemetry_disabled=True) as driver:

        async def run(text: str, **parameters: Any) -> list[list[Any]]:
            async with driver.session(database=settings.database) as session:
                return await (await session.run(text, parameters)).values()

        yield run


@pytest.fixture
async def tenant(cypher: Cypher) -> AsyncIterator[str]:
    name = f"t-{uuid4().hex}"
    yield name
    await cypher("MATCH (n:EunoeNode) WHERE n.tenant = $tenant CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS", tenant=name)


@pytest.fixture
async def store(settings: Neo4jSettings) -> AsyncIterator[Neo4jGraphStore]:
    async with open_neo4j(settings) as opened:
        yield opened


def _document(number: int, *, passages: int = 4, generation: int = 1) -> tuple[UUID, list[Node], list[Edge]]:
    owner = UUID(int=number * 10_000)
    edges: list[Edge] = []

    def link(source: UUID, kind: EdgeKind, target: UUID, weight: float = 1.0) -> None:
        edges.append(Edge(source, kind, target, owner, generation, weight))

    own = [UUID(int=owner.int + 1 + each) for each in range(passages)]
    mentioned = [ENTITIES[(number * 3 + each) % len(ENTITIES)] for each in range(5)]
    held = [MEMORIES[(number + each) % len(MEMORIES)] for each in range(2)]
    nodes = [
        Node(owner, NodeKind.DOCUMENT, owner, "team", owner, generation, f"Title {number}"),
        *(Node(key, NodeKind.PASSAGE, key, "team", owner, generation, properties={"ordinal": at}) for at, key in enumerate(own)),
        *(Node(key, NodeKind.ENTITY, key, "team", name=f"Entity {key.int}") for key in mentioned),
        *(Node(key, NodeKind.MEMORY, key, "team", generation=1) for key in held),
        Node(SESSION, NodeKind.SESSION, SESSION, "team", name="session"),
    ]
    for at, key in enumerate(own):
        link(owner, EdgeKind.HAS_PASSAGE, key)
        link(SESSION, EdgeKind.HAS_PASSAGE, key, float(number))
        for target in mentioned[at % 2 :]:
            link(key, EdgeKind.MENTIONS, target)
    for before, after in pairwise(own):
        link(before, EdgeKind.NEXT, after)
    for key in held:
        link(key, EdgeKind.DERIVED_FROM, own[0])
        link(key, EdgeKind.MENTIONS, mentioned[0])
    return owner, nodes, edges


@pytest.fixture
def document() -> Callable[..., tuple[UUID, list[Node], list[Edge]]]:
    """The id, nodes and edges of a document that shares entities, memories and a session with the others; its keys follow its id."""
    return _document


@pytest.fixture
def shared() -> list[UUID]:
    """Keys that the documents share."""
    return [*ENTITIES, *MEMORIES, SESSION]

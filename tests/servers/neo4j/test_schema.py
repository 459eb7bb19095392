"""What `open_neo4j` makes, checks and refuses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from eunoe_contracts.errors import ConfigurationError, SchemaTooNew, StoreUnavailable
from eunoe_stores.graph.neo4j import Neo4jSettings, open_neo4j
from eunoe_stores.graph.neo4j.schema import INDEXES
from pydantic import SecretStr
from servers.ports import free_ports

pytestmark = [pytest.mark.servers, pytest.mark.timeout(180)]
Cypher = Callable[..., Awaitable[list[list[Any]]]]
NAMES = "SHOW INDEXES YIELD name, state WHERE name STARTS WITH 'eunoe_' RETURN name, state ORDER BY name"


async def opened(settings: Neo4jSettings) -> None:
    async with open_neo4j(settings):
        pass


async def drop(cypher: Cypher) -> None:
    for each in INDEXES:
        await cypher(f"DROP {'CONSTRAINT' if each.unique else 'INDEX'} {each.name} IF EXISTS")


async def test_several_processes_make_the_schema_at_once(settings: Neo4jSettings, cypher: Cypher):
    await drop(cypher)
    await asyncio.gather(*(opened(settings) for _ in range(4)))
    assert await cypher(NAMES) == [[each, "ONLINE"] for each in sorted(index.name for index in INDEXES)]
    await opened(settings)


async def test_an_index_of_the_same_name_that_is_another_one_is_refused(settings: Neo4jSettings, cypher: Cypher):
    await opened(settings)
    await cypher("DROP INDEX eunoe_node_name")
    await cypher("CREATE INDEX eunoe_node_name FOR (n:EunoeNode) ON (n.name)")
    try:
        with pytest.raises(ConfigurationError, match="eunoe_node_name"):
            await opened(settings)
    finally:
        await cypher("DROP INDEX eunoe_node_name")
    await opened(settings)


async def test_the_data_of_a_newer_program_is_refused(settings: Neo4jSettings, cypher: Cypher):
    await opened(settings)
    await cypher("MATCH (v:EunoeSchema {part: 'graph'}) SET v.version = 99")
    try:
        with pytest.raises(SchemaTooNew):
            await opened(settings)
    finally:
        await cypher("MATCH (v:EunoeSchema {part: 'graph'}) SET v.version = 1")


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"password": SecretStr("wrong")}, "EUNOE_NEO4J__PASSWORD"),
        ({"user": "nobody"}, "EUNOE_NEO4J__USER"),
        ({"database": "absent"}, "EUNOE_NEO4J__DATABASE"),
    ],
)
async def test_wrong_settings_are_named(settings: Neo4jSettings, changed: dict[str, object], named: str):
    with pytest.raises(ConfigurationError, match=named) as refusal:
        await opened(settings.model_copy(update=changed))
    assert "wrong" not in str(refusal.value)


async def test_nobody_listens(settings: Neo4jSettings):
    (port,) = free_ports(1)
    with pytest.raises(StoreUnavailable):
        await opened(settings.model_copy(update={"uri": f"bolt://127.0.0.1:{port}"}))

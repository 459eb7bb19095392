"""The uniqueness constraint and the indexes, made where they are missing and checked at every start."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from eunoe_contracts.errors import ConfigurationError, SchemaTooNew, StoreUnavailable

from eunoe_stores.graph.neo4j.rows import LABEL, ORDERED, TYPES
from eunoe_stores.graph.neo4j.transactions import Ask, Transactions

SCHEMA_VERSION = 1
OLDEST_SERVER = (5, 26)
AWAIT_S = 5


@dataclass(frozen=True, slots=True)
class Index:
    """A range index on nodes, or on relationships of a type; a composite one serves only conditions on all of its properties."""

    name: str
    of: str
    properties: tuple[str, ...]
    on_nodes: bool = True
    unique: bool = False

    def statement(self) -> str:
        """Makes it, unless one of that name is there."""
        on = ", ".join(f"x.{each}" for each in self.properties)
        if self.unique:
            return f"CREATE CONSTRAINT {self.name} IF NOT EXISTS FOR (x:{self.of}) REQUIRE {on} IS UNIQUE"
        pattern = f"(x:{self.of})" if self.on_nodes else f"()-[x:{self.of}]-()"
        return f"CREATE INDEX {self.name} IF NOT EXISTS FOR {pattern} ON ({on})"


INDEXES = (
    Index("eunoe_node_key", LABEL, ("key",), unique=True),
    Index("eunoe_node_name", LABEL, ("tenant", "name_hash")),
    Index("eunoe_node_public_id", LABEL, ("tenant", "public_id")),
    Index("eunoe_node_document", LABEL, ("tenant", "document", "generation")),
    *(Index(f"eunoe_{kind}_document", type_, ("tenant", "document"), on_nodes=False) for kind, type_ in TYPES.items()),
    *(Index(f"eunoe_{kind}_order", TYPES[kind], ("source", "weight"), on_nodes=False) for kind in sorted(ORDERED)),
)


async def prepare(transactions: Transactions) -> None:
    """Make what is missing and check what is there. May run twice, also in two processes at once.

    Raises `SchemaTooNew` for the data of a newer program, `ConfigurationError` for a server that is too old or an index that is not
    what its name says, `StoreUnavailable` while a new index is being filled.
    """
    await transactions.read(_refuse_old_server)
    await transactions.read(_refuse_newer_data)
    found = await transactions.read(_found)
    missing = [each for each in INDEXES if each.name not in found]
    if missing:
        await transactions.write(lambda ask: _make(ask, missing))
        await transactions.read(lambda ask: ask("CALL db.awaitIndexes($seconds)", seconds=AWAIT_S))
        found = await transactions.read(_found)
    for each in INDEXES:
        _check(each, found)
    await transactions.write(_write_version)


async def _refuse_old_server(ask: Ask) -> None:
    for version in await ask("CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN [versions[0]]"):
        numbers = tuple(int(part) for part in str(version).split("-")[0].split(".")[:2] if part.isdigit())
        if numbers < OLDEST_SERVER:
            raise ConfigurationError(f"EUNOE_NEO4J__URI: the server is Neo4j {version}; 5.26 or newer is needed")


async def _refuse_newer_data(ask: Ask) -> None:
    # Two that start at once may both make this node; the newest counts.
    for version in await ask("MATCH (v:EunoeSchema) WHERE v.part = 'graph' RETURN [v.version]"):
        if version > SCHEMA_VERSION:
            raise SchemaTooNew


async def _write_version(ask: Ask) -> None:
    await ask("MERGE (v:EunoeSchema {part: 'graph'}) ON CREATE SET v.version = $version", version=SCHEMA_VERSION)


async def _make(ask: Ask, missing: Iterable[Index]) -> None:
    for each in missing:
        await ask(each.statement())


async def _found(ask: Ask) -> dict[str, tuple[str, list[str], list[str], bool]]:
    rows = await ask(
        "SHOW INDEXES YIELD name, state, labelsOrTypes, properties, owningConstraint WHERE name STARTS WITH 'eunoe_' "
        "RETURN collect([name, state, labelsOrTypes, properties, owningConstraint IS NOT NULL])"
    )
    return {name: (state, of, properties, unique) for name, state, of, properties, unique in rows}


def _check(index: Index, found: dict[str, tuple[str, list[str], list[str], bool]]) -> None:
    state, of, properties, unique = found.get(index.name, ("", [], [], False))
    if (of, properties, unique) != ([index.of], list(index.properties), index.unique) or state == "FAILED":
        raise ConfigurationError(f"EUNOE_NEO4J__DATABASE: drop {index.name} there; it is not the index that eunoe needs")
    if state != "ONLINE":
        raise StoreUnavailable(f"the graph is still filling the index {index.name}")

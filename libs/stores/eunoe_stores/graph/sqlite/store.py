"""`GraphStore` on the tables of eunoe.db."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar
from uuid import UUID

from eunoe_contracts.identity import normalised_statement
from eunoe_contracts.tenancy import checked_tenant

from eunoe_stores.graph.port import Edge, EdgeKind, Neighbour, Node, NodeKind
from eunoe_stores.graph.sqlite import removal, traversal
from eunoe_stores.graph.sqlite.rows import NODE_COLUMNS, chunks, edge_row, marks, node, node_row, within
from eunoe_stores.graph.sqlite.schema import prepare
from eunoe_stores.sqlite.connections import raw
from eunoe_stores.sqlite.port import FEW_ROWS, Database

T = TypeVar("T")
_EDGE_UPSERT = """
INSERT INTO graph_edges VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, source, kind, target, document)
DO UPDATE SET weight = excluded.weight, generation = max(generation, excluded.generation)
"""


class SqliteGraphStore:
    """Shares the database with others and does not close it. Tables, all named `graph_...`, are made with the first call."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._prepared = False
        self._preparing = asyncio.Lock()

    async def prepare(self) -> None:
        """Make or check the tables now. Raises `SchemaTooNew`. May be called twice."""
        async with self._preparing:
            if not self._prepared:
                await self._database.write(lambda connection: prepare(raw(connection)))
                self._prepared = True

    async def upsert(self, tenant: str, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        """See `GraphStore.upsert`. Nodes and edges of one call are seen together."""
        checked_tenant(tenant)
        node_rows = [node_row(tenant, each) for each in nodes]
        edge_rows = [edge_row(tenant, each) for each in edges]

        def work(driver: sqlite3.Connection) -> None:
            driver.executemany("INSERT OR REPLACE INTO graph_nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", node_rows)
            driver.executemany(_EDGE_UPSERT, edge_rows)

        await self._write(work, quick=len(nodes) + len(edges) <= FEW_ROWS)

    async def neighbours(
        self, tenant: str, key: UUID, *, kinds: frozenset[EdgeKind] = frozenset(), outgoing: bool | None = None, limit: int = 50
    ) -> Sequence[Neighbour]:
        """See `GraphStore.neighbours`. Nodes that do not exist (yet) are left out."""
        names = sorted(kinds)
        return await self._read(
            lambda driver: traversal.neighbours(driver, tenant, key.bytes, names, outgoing=outgoing, limit=limit), quick=limit <= FEW_ROWS
        )

    async def beside(self, tenant: str, key: UUID, kind: EdgeKind, *, weight: float, but: UUID) -> tuple[Node | None, Node | None]:
        """See `GraphStore.beside`."""
        return await self._read(lambda driver: traversal.beside(driver, tenant, key.bytes, kind, weight=weight, but=but.bytes), quick=True)

    async def hops(
        self,
        tenant: str,
        starts: Sequence[UUID],
        *,
        kinds: frozenset[EdgeKind],
        depth: int,
        fan_out: int,
        containers: tuple[str, ...] = (),
    ) -> Mapping[UUID, int]:
        """See `GraphStore.hops`. The starts are not part of the answer, and are left whatever their number of neighbours."""
        keys, names = [each.bytes for each in starts], sorted(kinds)
        found = await self._read(
            lambda driver: traversal.hops(driver, tenant, keys, names, depth=depth, fan_out=fan_out, containers=containers)
        )
        return {UUID(bytes=key): distance for key, distance in found.items()}

    async def in_degree(self, tenant: str, keys: Sequence[UUID], kind: EdgeKind) -> Mapping[UUID, int]:
        """See `GraphStore.in_degree`. Every key has an answer, 0 included."""

        def work(driver: sqlite3.Connection) -> dict[UUID, int]:
            statement = "SELECT count(*) FROM graph_edges WHERE tenant = ? AND target = ? AND kind = ?"
            return {key: driver.execute(statement, (tenant, key.bytes, kind.value)).fetchone()[0] for key in keys}

        return await self._read(work, quick=len(keys) <= FEW_ROWS)

    async def by_name(
        self, tenant: str, names: Sequence[str], *, kinds: frozenset[NodeKind], containers: tuple[str, ...]
    ) -> Sequence[Node]:
        """See `GraphStore.by_name`. By name, then key; no kinds means all."""
        wanted = sorted({normalised_statement(name) for name in names})
        condition, parameters = within(containers)
        of_kinds = f" AND n.kind IN ({marks(kinds)})" if kinds else ""

        def work(driver: sqlite3.Connection) -> list[Node]:
            found: list[Node] = []
            for part in chunks(wanted):
                where = f"n.tenant = ? AND n.normal_name IN ({marks(part)}) AND {condition}{of_kinds}"
                statement = f"SELECT {NODE_COLUMNS} FROM graph_nodes n WHERE {where} ORDER BY n.normal_name, n.key"  # noqa: S608 - fixed names
                found += map(node, driver.execute(statement, (tenant, *part, *parameters, *sorted(kinds))))
            return found

        return await self._read(work, quick=len(wanted) <= FEW_ROWS)

    async def nodes(self, tenant: str, keys: Sequence[UUID]) -> Mapping[UUID, Node]:
        """See `GraphStore.nodes`."""
        return {found.key: found for found in await self._nodes_by(tenant, "key", keys)}

    async def by_public_id(self, tenant: str, public_ids: Sequence[UUID]) -> Mapping[UUID, Node]:
        """See `GraphStore.by_public_id`."""
        found = await self._nodes_by(tenant, "public", public_ids)
        return {each.public_id: each for each in sorted(found, key=lambda each: each.generation)}

    async def delete_document(self, tenant: str, document: UUID, *, through_generation: int, from_generation: int = 0) -> int:
        """See `GraphStore.delete_document`. The number has the entities in it; sessions without edges go as well."""
        generations = (from_generation, through_generation)
        return await self._write(lambda driver: removal.delete_document(driver, tenant, document.bytes, generations))

    async def delete_nodes(self, tenant: str, keys: Sequence[UUID]) -> int:
        """See `GraphStore.delete_nodes`. Entities that only these mentioned go as well, and are counted."""
        wanted = [key.bytes for key in keys]
        return await self._write(lambda driver: removal.delete_nodes(driver, tenant, wanted))

    async def count(self, tenant: str, *, document: UUID | None = None) -> int:
        """See `GraphStore.count`."""
        condition, parameters = (" AND document = ?", (document.bytes,)) if document else ("", ())
        statement = f"SELECT count(*) FROM graph_nodes WHERE tenant = ?{condition}"  # noqa: S608 - fixed names
        return await self._read(lambda driver: int(driver.execute(statement, (tenant, *parameters)).fetchone()[0]), quick=bool(document))

    async def count_edges(self, tenant: str) -> Mapping[EdgeKind, int]:
        """See `GraphStore.count_edges`."""
        statement = "SELECT kind, count(*) FROM graph_edges WHERE tenant = ? GROUP BY kind ORDER BY kind"
        return await self._read(lambda driver: {EdgeKind(kind): count for kind, count in driver.execute(statement, (tenant,))})

    async def documents(self, tenant: str) -> Sequence[tuple[UUID, int]]:
        """See `GraphStore.documents`; ordered."""
        statement = "SELECT DISTINCT document, generation FROM graph_nodes WHERE tenant = ? AND document IS NOT NULL ORDER BY 1, 2"
        return await self._read(lambda driver: [(UUID(bytes=row[0]), row[1]) for row in driver.execute(statement, (tenant,))])

    async def _nodes_by(self, tenant: str, column: str, values: Sequence[UUID]) -> list[Node]:
        def work(driver: sqlite3.Connection) -> list[Node]:
            found: list[Node] = []
            for part in chunks([value.bytes for value in values]):
                statement = f"SELECT {NODE_COLUMNS} FROM graph_nodes n WHERE n.tenant = ? AND n.{column} IN ({marks(part)})"  # noqa: S608 - fixed names
                found += map(node, driver.execute(statement, (tenant, *part)))
            return found

        return await self._read(work, quick=len(values) <= FEW_ROWS)

    async def _read(self, work: Callable[[sqlite3.Connection], T], *, quick: bool = False) -> T:
        if not self._prepared:
            await self.prepare()
        return await self._database.read(lambda connection: work(raw(connection)), quick=quick)

    async def _write(self, work: Callable[[sqlite3.Connection], T], *, quick: bool = False) -> T:
        if not self._prepared:
            await self.prepare()
        return await self._database.write(lambda connection: work(raw(connection)), durable=False, quick=quick)

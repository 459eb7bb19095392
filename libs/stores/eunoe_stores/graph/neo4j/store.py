"""`GraphStore` on Neo4j."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from uuid import UUID

from eunoe_contracts.tenancy import checked_tenant

from eunoe_stores.graph.neo4j import lookup, removal, traversal, writing
from eunoe_stores.graph.neo4j.rows import chunks
from eunoe_stores.graph.neo4j.transactions import Ask, Transactions
from eunoe_stores.graph.port import Edge, EdgeKind, Neighbour, Node, NodeKind


class Neo4jGraphStore:
    """Every call ends within its time-out. Raises `StoreUnavailable` or `DeadlineExceeded`, and then a write may be done or not: it is
    repeated as it is.
    """

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    async def upsert(self, tenant: str, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        """See `GraphStore.upsert`. Up to 1,000 nodes and edges are seen together; of more, a node comes with its first edge."""
        checked_tenant(tenant)
        for some_nodes, some_edges in writing.pieces(nodes, edges):

            async def work(ask: Ask, nodes: Sequence[Node] = some_nodes, edges: Sequence[Edge] = some_edges) -> None:
                await writing.upsert(ask, tenant, nodes, edges)

            await self._transactions.write(work)

    async def neighbours(
        self, tenant: str, key: UUID, *, kinds: frozenset[EdgeKind] = frozenset(), outgoing: bool | None = None, limit: int = 50
    ) -> Sequence[Neighbour]:
        """See `GraphStore.neighbours`. Nodes that do not exist (yet) are left out."""
        return await self._transactions.read(lambda ask: traversal.neighbours(ask, tenant, key, kinds, outgoing=outgoing, limit=limit))

    async def beside(self, tenant: str, key: UUID, kind: EdgeKind, *, weight: float, but: UUID) -> tuple[Node | None, Node | None]:
        """See `GraphStore.beside`."""
        return await self._transactions.read(lambda ask: traversal.beside(ask, tenant, key, kind, weight=weight, but=but))

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
        return await self._transactions.read(
            lambda ask: traversal.hops(ask, tenant, starts, kinds, depth=depth, fan_out=fan_out, containers=containers)
        )

    async def in_degree(self, tenant: str, keys: Sequence[UUID], kind: EdgeKind) -> Mapping[UUID, int]:
        """See `GraphStore.in_degree`. Every key has an answer, 0 included."""
        return await self._transactions.read(lambda ask: lookup.in_degree(ask, tenant, keys, kind))

    async def by_name(
        self, tenant: str, names: Sequence[str], *, kinds: frozenset[NodeKind], containers: tuple[str, ...]
    ) -> Sequence[Node]:
        """See `GraphStore.by_name`. By name, then key; no kinds means all."""
        return await self._transactions.read(lambda ask: lookup.by_name(ask, tenant, names, kinds=kinds, containers=containers))

    async def nodes(self, tenant: str, keys: Sequence[UUID]) -> Mapping[UUID, Node]:
        """See `GraphStore.nodes`."""
        return await self._transactions.read(lambda ask: lookup.by_key(ask, tenant, keys))

    async def by_public_id(self, tenant: str, public_ids: Sequence[UUID]) -> Mapping[UUID, Node]:
        """See `GraphStore.by_public_id`."""
        return await self._transactions.read(lambda ask: lookup.by_public_id(ask, tenant, public_ids))

    async def delete_document(self, tenant: str, document: UUID, *, through_generation: int, from_generation: int = 0) -> int:
        """See `GraphStore.delete_document`. The number has the entities in it; sessions without edges go as well.

        A document of more than `removal.MOST_NODES` nodes or edges goes in several transactions, each of which takes the orphans that it
        makes.
        """
        removed, has_more = 0, True
        while has_more:
            number, has_more = await self._transactions.write(
                lambda ask: removal.delete_document(ask, tenant, document, (from_generation, through_generation))
            )
            removed += number
        return removed

    async def delete_nodes(self, tenant: str, keys: Sequence[UUID]) -> int:
        """See `GraphStore.delete_nodes`. Entities that only these mentioned go as well, and are counted."""
        removed = 0
        for part in chunks(removal.hashed(tenant, keys)):
            removed += await self._transactions.write(partial(removal.delete_nodes, tenant=tenant, keys=part))
        return removed

    async def count(self, tenant: str, *, document: UUID | None = None) -> int:
        """See `GraphStore.count`."""
        return await self._transactions.read(lambda ask: lookup.count(ask, tenant, document))

    async def count_edges(self, tenant: str) -> Mapping[EdgeKind, int]:
        """See `GraphStore.count_edges`."""
        return await self._transactions.read(lambda ask: lookup.count_edges(ask, tenant))

    async def documents(self, tenant: str) -> Sequence[tuple[UUID, int]]:
        """See `GraphStore.documents`; ordered."""
        return await self._transactions.read(lambda ask: lookup.documents(ask, tenant))

"""`GraphStore` in memory: every question looks at every edge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias
from uuid import UUID

from eunoe_contracts.identity import normalised_statement
from eunoe_contracts.tenancy import checked_tenant

from eunoe_stores.graph.port import Edge, EdgeKind, Neighbour, Node, NodeKind

EdgeKey: TypeAlias = tuple[str, UUID, EdgeKind, UUID, UUID]


class MemoryGraphStore:
    """Keeps nodes and edges in two dicts; passes the same behaviour suite as the real ones."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[str, UUID], Node] = {}
        self._edges: dict[EdgeKey, Edge] = {}

    def contents(self, tenant: str) -> tuple[list[Node], list[Edge]]:
        """Everything in it, for tests."""
        return [node for (owner, _), node in self._nodes.items() if owner == tenant], self._of(tenant)

    async def upsert(self, tenant: str, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        """See `GraphStore.upsert`."""
        checked_tenant(tenant)
        self._nodes.update({(tenant, node.key): node for node in nodes})
        for edge in edges:
            place = (tenant, edge.source, edge.kind, edge.target, edge.document)
            before = self._edges.get(place, edge)
            self._edges[place] = replace(edge, generation=max(edge.generation, before.generation))

    async def neighbours(
        self, tenant: str, key: UUID, *, kinds: frozenset[EdgeKind] = frozenset(), outgoing: bool | None = None, limit: int = 50
    ) -> Sequence[Neighbour]:
        """See `GraphStore.neighbours`."""
        best: dict[tuple[UUID, EdgeKind, bool], Neighbour] = {}
        for edge in self._of(tenant):
            for direction, start, end in ((True, edge.source, edge.target), (False, edge.target, edge.source)):
                node = self._nodes.get((tenant, end))
                if start == key and node is not None and (not kinds or edge.kind in kinds) and outgoing in {None, direction}:
                    known = best.get((end, edge.kind, direction))
                    weight = max(edge.weight, known.weight) if known else edge.weight
                    best[end, edge.kind, direction] = Neighbour(node, edge.kind, weight, direction)
        ordered = sorted(best.values(), key=lambda each: (-each.weight, each.node.key, not each.outgoing, each.kind))
        return ordered[:limit]

    async def beside(self, tenant: str, key: UUID, kind: EdgeKind, *, weight: float, but: UUID) -> tuple[Node | None, Node | None]:
        """See `GraphStore.beside`."""
        edges = [edge for edge in self._of(tenant) if (edge.source, edge.kind) == (key, kind) and edge.document != but]
        near = [(edge.weight, node) for edge in edges if (node := self._nodes.get((tenant, edge.target))) is not None]

        def rank(each: tuple[float, Node], sign: int) -> tuple[float, int, int]:
            return each[0], sign * each[1].generation, int(each[1].properties.get("ordinal") or 0)

        below = max((each for each in near if each[0] < weight), key=lambda each: rank(each, 1), default=None)
        above = min((each for each in near if each[0] > weight), key=lambda each: rank(each, -1), default=None)
        return below and below[1], above and above[1]

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
        """See `GraphStore.hops`."""
        distances = dict.fromkeys(starts, 0)
        frontier = list(distances)
        for distance in range(1, depth + 1):
            following: dict[UUID, int] = {}
            for key in frontier:
                near = self._near(tenant, key, kinds, containers)
                if distance == 1 or len(near) <= fan_out:
                    following |= {each: distance for each in near if each not in distances}
            distances |= following
            frontier = list(following)
        return {key: distance for key, distance in distances.items() if distance}

    async def in_degree(self, tenant: str, keys: Sequence[UUID], kind: EdgeKind) -> Mapping[UUID, int]:
        """See `GraphStore.in_degree`."""
        return {key: sum(edge.target == key and edge.kind == kind for edge in self._of(tenant)) for key in keys}

    async def by_name(
        self, tenant: str, names: Sequence[str], *, kinds: frozenset[NodeKind], containers: tuple[str, ...]
    ) -> Sequence[Node]:
        """See `GraphStore.by_name`."""
        wanted = {normalised_statement(name) for name in names}
        found = [
            node
            for (owner, _), node in self._nodes.items()
            if owner == tenant
            and normalised_statement(node.name) in wanted
            and (not kinds or node.kind in kinds)
            and _within(node.container, containers)
        ]
        return sorted(found, key=lambda node: (normalised_statement(node.name), node.key))

    async def nodes(self, tenant: str, keys: Sequence[UUID]) -> Mapping[UUID, Node]:
        """See `GraphStore.nodes`."""
        return {key: self._nodes[tenant, key] for key in keys if (tenant, key) in self._nodes}

    async def by_public_id(self, tenant: str, public_ids: Sequence[UUID]) -> Mapping[UUID, Node]:
        """See `GraphStore.by_public_id`."""
        owned = [node for (owner, _), node in self._nodes.items() if owner == tenant and node.public_id in public_ids]
        return {node.public_id: node for node in sorted(owned, key=lambda node: node.generation)}

    async def delete_document(self, tenant: str, document: UUID, *, through_generation: int, from_generation: int = 0) -> int:
        """See `GraphStore.delete_document`."""
        gone = [
            key
            for (owner, key), node in self._nodes.items()
            if owner == tenant and node.document == document and from_generation <= node.generation <= through_generation
        ]
        places = [
            place
            for place, edge in self._edges.items()
            if place[0] == tenant and edge.document == document and from_generation <= edge.generation <= through_generation
        ]
        return self._remove(tenant, gone, self._drop(places))

    async def delete_nodes(self, tenant: str, keys: Sequence[UUID]) -> int:
        """See `GraphStore.delete_nodes`."""
        return self._remove(tenant, keys, set())

    async def count(self, tenant: str, *, document: UUID | None = None) -> int:
        """See `GraphStore.count`."""
        return sum(owner == tenant and document in {None, node.document} for (owner, _), node in self._nodes.items())

    async def count_edges(self, tenant: str) -> Mapping[EdgeKind, int]:
        """See `GraphStore.count_edges`."""
        return Counter(edge.kind for edge in self._of(tenant))

    async def documents(self, tenant: str) -> Sequence[tuple[UUID, int]]:
        """See `GraphStore.documents`."""
        owned = [node for (owner, _), node in self._nodes.items() if owner == tenant]
        return sorted({(node.document, node.generation) for node in owned if node.document is not None})

    def _of(self, tenant: str) -> list[Edge]:
        return [edge for place, edge in self._edges.items() if place[0] == tenant]

    def _near(self, tenant: str, key: UUID, kinds: frozenset[EdgeKind], containers: tuple[str, ...]) -> list[UUID]:
        edges = [edge for edge in self._of(tenant) if key in {edge.source, edge.target} and (not kinds or edge.kind in kinds)]
        ends = sorted({edge.target if edge.source == key else edge.source for edge in edges} - {key})
        return [end for end in ends if (tenant, end) in self._nodes and _within(self._nodes[tenant, end].container, containers)]

    def _drop(self, places: Sequence[EdgeKey]) -> set[UUID]:
        dropped = [self._edges.pop(place) for place in places]
        return {end for edge in dropped for end in (edge.source, edge.target)}

    def _remove(self, tenant: str, keys: Sequence[UUID], ends: set[UUID]) -> int:
        removed = 0
        for key in set(keys):
            removed += self._nodes.pop((tenant, key), None) is not None
            ends |= self._drop([place for place in self._edges if place[0] == tenant and key in {place[1], place[3]}])
        orphans = [key for key in ends if self._is_orphan(tenant, key)]
        return removed + (self._remove(tenant, orphans, set()) if orphans else 0)

    def _is_orphan(self, tenant: str, key: UUID) -> bool:
        node = self._nodes.get((tenant, key))
        if node is None or node.document is not None:
            return False
        if node.kind is NodeKind.ENTITY:
            return not any(edge.target == key and edge.kind is EdgeKind.MENTIONS for edge in self._of(tenant))
        if node.kind is NodeKind.MEMORY:
            return not any(edge.source == key and edge.kind is EdgeKind.DERIVED_FROM for edge in self._of(tenant))
        return node.kind is NodeKind.SESSION and not any(key in {edge.source, edge.target} for edge in self._of(tenant))


def _within(container: str, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(container.startswith(each[:-1]) if each.endswith("*") else container == each for each in patterns)

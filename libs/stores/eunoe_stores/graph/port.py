"""The GraphStore port: idempotent nodes and edges, bounded hops. No query language in the port."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from eunoe_contracts.content import Scalar


class NodeKind(StrEnum):
    """Labels of nodes."""

    DOCUMENT = "document"
    ROOT = "root"
    SECTION = "section"
    PASSAGE = "passage"
    SESSION = "session"
    MEMORY = "memory"
    ENTITY = "entity"


class EdgeKind(StrEnum):
    """Types of edges. Structure: has_root, has_section, has_passage, next. Waypoints run both ways between root and section."""

    HAS_ROOT = "has_root"
    HAS_SECTION = "has_section"
    HAS_PASSAGE = "has_passage"
    NEXT = "next"
    WAYPOINT = "waypoint"
    MENTIONS = "mentions"
    MENTIONS_DOCUMENT = "mentions_document"
    DERIVED_FROM = "derived_from"
    UPDATES = "updates"
    EXTENDS = "extends"
    DERIVES = "derives"


@dataclass(frozen=True, slots=True)
class Node:
    """`key` is a row key; `document` owns the node (None for entities and memories, which have sources)."""

    key: UUID
    kind: NodeKind
    public_id: UUID
    container: str
    document: UUID | None = None
    generation: int = 0
    name: str = ""
    properties: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edge:
    """Directed. `document` and `generation` say which document's processing made it, so that it goes with that."""

    source: UUID
    kind: EdgeKind
    target: UUID
    document: UUID
    generation: int
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A node reached over one edge; `outgoing` is false when the edge points at the start."""

    node: Node
    kind: EdgeKind
    weight: float
    outgoing: bool


class GraphStore(Protocol):
    """Relationships."""

    async def upsert(self, tenant: str, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        """Insert or replace; an edge is one per (source, kind, target, document). Edges may come before their nodes.

        Up to 1,000 nodes and edges are stored together or not at all.
        """
        ...

    async def neighbours(
        self, tenant: str, key: UUID, *, kinds: frozenset[EdgeKind] = frozenset(), outgoing: bool | None = None, limit: int = 50
    ) -> Sequence[Neighbour]:
        """Direct neighbours, heaviest first, then by key. No kinds means all."""
        ...

    async def beside(self, tenant: str, key: UUID, kind: EdgeKind, *, weight: float, but: UUID) -> tuple[Node | None, Node | None]:
        """The targets of edges of a kind whose weights are nearest below and above: what comes before and after in an order.

        Edges that document `but` made are left out. Of several with one weight: below the newest generation's last by the property
        `ordinal`, above its first.
        """
        ...

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
        """Keys within `depth` steps and their distance; a node with more than `fan_out` neighbours is not passed through.
        Nodes outside the allowed containers (as in `IndexFilter`) are left out before anything is counted.
        """
        ...

    async def in_degree(self, tenant: str, keys: Sequence[UUID], kind: EdgeKind) -> Mapping[UUID, int]:
        """Number of edges of a kind that point at each key."""
        ...

    async def by_name(
        self, tenant: str, names: Sequence[str], *, kinds: frozenset[NodeKind], containers: tuple[str, ...]
    ) -> Sequence[Node]:
        """Nodes whose normalised name (`identity.normalised_statement`) is one of these; exact containers, none means all."""
        ...

    async def nodes(self, tenant: str, keys: Sequence[UUID]) -> Mapping[UUID, Node]:
        """Nodes that exist."""
        ...

    async def by_public_id(self, tenant: str, public_ids: Sequence[UUID]) -> Mapping[UUID, Node]:
        """Newest node of each public id."""
        ...

    async def delete_document(self, tenant: str, document: UUID, *, through_generation: int, from_generation: int = 0) -> int:
        """Remove the document's nodes and edges of these generations, both ends included, then entities nobody mentions and
        memories that rest on no passage, in the same transaction; returns nodes.
        """
        ...

    async def delete_nodes(self, tenant: str, keys: Sequence[UUID]) -> int:
        """Remove nodes and their edges."""
        ...

    async def count(self, tenant: str, *, document: UUID | None = None) -> int:
        """Number of nodes."""
        ...

    async def count_edges(self, tenant: str) -> Mapping[EdgeKind, int]:
        """Number of edges by kind, of kinds that have some; an edge that several documents make counts once for each."""
        ...

    async def documents(self, tenant: str) -> Sequence[tuple[UUID, int]]:
        """(document, generation) pairs that own nodes, for audits."""
        ...

"""Nodes and edges as Neo4j keeps them: hashed keys, properties, and conditions on containers as Cypher."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from eunoe_contracts.identity import normalised_statement

from eunoe_stores.graph.port import Edge, EdgeKind, Node, NodeKind

V = TypeVar("V")
LABEL = "EunoeNode"
"""Every node's label: the ends of edges that have come before their nodes too, which have no `kind` and are shown to nobody."""

LABELS: Mapping[NodeKind, str] = {kind: kind.value.capitalize() for kind in NodeKind}
TYPES: Mapping[EdgeKind, str] = {kind: kind.value.upper() for kind in EdgeKind}
"""Labels and types stand in the text of a statement, since they cannot be parameters. These are all there are."""

ORDERED = frozenset({EdgeKind.HAS_PASSAGE})
"""Kinds whose weights are an order that `beside` reads by an index."""

ROWS = 1000
"""Rows of one statement."""

_HASH_DIGITS = 32  # 128 bits; Neo4j keeps up to 54 lower-case hexadecimal digits within the record of a node
_INT64 = 2**63
_COLUMNS = ("id", "kind", "public_id", "container", "document", "generation", "name", "properties")
NODE_WIDTH = len(_COLUMNS)


def columns(variable: str, *more: str) -> str:
    """What a statement collects of a node, for `node`, and after it."""
    return f"collect([{', '.join([*(f'{variable}.{each}' for each in _COLUMNS), *more])}])"


def seek(variable: str, *properties: str, of: str = LABEL) -> str:
    """Hint after a pattern. Where the planner thinks that next to nothing is there, as in a new database, it takes any plan for as good as
    a seek, and keeps it for a while.
    """
    return f"USING INDEX SEEK {variable}:{of}({', '.join(properties or ('key',))})"


def node_key(tenant: str, key: UUID) -> str:
    """One property that names a node among all tenants; it has the uniqueness constraint."""
    return hashlib.sha256(tenant.encode() + b"\0" + key.bytes).hexdigest()[:_HASH_DIGITS]


def name_hash(normal_name: str) -> str:
    """Names are looked up by this: an indexed string of 40 kB would be refused."""
    return hashlib.sha256(normal_name.encode()).hexdigest()[:_HASH_DIGITS]


def node_properties(tenant: str, node: Node) -> dict[str, Any]:
    """A missing value is None, so that replacing a node takes it away."""
    ordinal = node.properties.get("ordinal")
    is_number = isinstance(ordinal, (int, float)) and not isinstance(ordinal, bool) and abs(ordinal) < _INT64
    return {
        "tenant": tenant,
        "id": node.key.hex,
        "kind": node.kind.value,
        "public_id": node.public_id.hex,
        "container": node.container,
        "document": None if node.document is None else node.document.hex,
        "generation": node.generation,
        "name": node.name,
        "name_hash": name_hash(normalised_statement(node.name)),
        "properties": json.dumps(dict(node.properties), ensure_ascii=False, separators=(",", ":")),
        # Beside the JSON, because `beside` sorts by it.
        "ordinal": ordinal if is_number else None,
    }


def edge_row(tenant: str, edge: Edge) -> dict[str, Any]:
    """Parameters of one edge, ends by key."""
    return {
        "source": node_key(tenant, edge.source),
        "target": node_key(tenant, edge.target),
        "document": edge.document.hex,
        "generation": edge.generation,
        "weight": float(edge.weight),
    }


def node(row: Sequence[Any]) -> Node:
    """The node in a row that starts with `columns`."""
    key, kind, public_id, container, document, generation, name, properties = row[:NODE_WIDTH]
    return Node(
        UUID(hex=key),
        NodeKind(kind),
        UUID(hex=public_id),
        container,
        None if document is None else UUID(hex=document),
        generation,
        name,
        json.loads(properties),
    )


def is_real(variable: str) -> str:
    """Condition: a node of the tenant, and not merely the end of an edge that came first."""
    return f"{variable}.tenant = $tenant AND {variable}.kind IS NOT NULL"


def within(containers: Sequence[str], variable: str) -> tuple[str, dict[str, list[str]]]:
    """Condition and parameters: exact names, or the prefix before a closing `*`; no containers, no condition."""
    if not containers:
        return "true", {}
    prefixes = [each[:-1] for each in containers if each.endswith("*")]
    exact = [each for each in containers if not each.endswith("*")]
    starts = f"any(prefix IN $prefixes WHERE {variable}.container STARTS WITH prefix)"
    return f"({variable}.container IN $exact OR {starts})", {"exact": exact, "prefixes": prefixes}


def types(kinds: frozenset[EdgeKind]) -> str:
    """Relationship types for a pattern, from the list of those that exist; no kinds means all."""
    return "|".join(sorted(TYPES[kind] for kind in kinds or frozenset(EdgeKind)))


def chunks(values: Sequence[V]) -> Iterator[Sequence[V]]:
    """Parts of at most `ROWS`."""
    return (values[start : start + ROWS] for start in range(0, len(values), ROWS))

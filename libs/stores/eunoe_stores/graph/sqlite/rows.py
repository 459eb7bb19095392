"""Nodes and edges as rows, and conditions on containers and keys as SQL."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar
from uuid import UUID

from eunoe_contracts.identity import normalised_statement

from eunoe_stores.graph.port import Edge, Node, NodeKind

V = TypeVar("V")
_PARAMETERS = 500
NODE_COLUMNS = "n.key, n.kind, n.public, n.container, n.document, n.generation, n.name, n.properties"
NODE_WIDTH = 8


def node_row(tenant: str, node: Node) -> tuple[Any, ...]:
    """Values in the order of the table."""
    return (
        tenant,
        node.key.bytes,
        node.kind.value,
        node.public_id.bytes,
        node.container,
        None if node.document is None else node.document.bytes,
        node.generation,
        node.name,
        normalised_statement(node.name),
        json.dumps(dict(node.properties), ensure_ascii=False, separators=(",", ":")),
    )


def edge_row(tenant: str, edge: Edge) -> tuple[Any, ...]:
    """Values in the order of the table."""
    return (tenant, edge.source.bytes, edge.kind.value, edge.target.bytes, edge.document.bytes, edge.generation, edge.weight)


def node(row: Sequence[Any]) -> Node:
    """The node in a row that starts with `NODE_COLUMNS`."""
    key, kind, public, container, document, generation, name, properties = row[:NODE_WIDTH]
    return Node(
        UUID(bytes=key),
        NodeKind(kind),
        UUID(bytes=public),
        container,
        None if document is None else UUID(bytes=document),
        generation,
        name,
        json.loads(properties),
    )


def within(containers: Sequence[str], column: str = "n.container") -> tuple[str, list[str | int]]:
    """Condition and parameters: exact names, or the prefix before a closing `*`; no containers, no condition."""
    if not containers:
        return "1", []
    parts, parameters = [], list[str | int]()
    for pattern in containers:
        if pattern.endswith("*"):
            parts.append(f"substr({column}, 1, ?) = ?")
            parameters += [len(pattern) - 1, pattern[:-1]]
        else:
            parts.append(f"{column} = ?")
            parameters.append(pattern)
    return f"({' OR '.join(parts)})", parameters


def marks(values: Iterable[object]) -> str:
    """A question mark for each value."""
    return ", ".join("?" for _ in values)


def chunks(values: Sequence[V]) -> Iterator[Sequence[V]]:
    """Parts that fit a statement's parameters."""
    return (values[start : start + _PARAMETERS] for start in range(0, len(values), _PARAMETERS))

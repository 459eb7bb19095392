"""Nodes by key, name and public id, and numbers for audits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from eunoe_contracts.identity import normalised_statement

from eunoe_stores.graph.neo4j.rows import LABEL, TYPES, chunks, columns, is_real, name_hash, node, node_key, seek, within
from eunoe_stores.graph.neo4j.transactions import Ask
from eunoe_stores.graph.port import EdgeKind, Node, NodeKind

_REAL = is_real("n")
_BY_DOCUMENT = seek("n", "tenant", "document", "generation")
BY_KEY = f"UNWIND $keys AS key MATCH (n:{LABEL} {{key: key}}) {seek('n')} WHERE {_REAL} RETURN {columns('n')}"
BY_PUBLIC_ID = (
    f"UNWIND $ids AS id MATCH (n:{LABEL}) {seek('n', 'tenant', 'public_id')} WHERE {_REAL} AND n.public_id = id RETURN {columns('n')}"
)
COUNT = f"MATCH (n:{LABEL}) {seek('n', 'tenant', 'public_id')} WHERE n.tenant = $tenant AND n.public_id IS NOT NULL RETURN [count(n)]"
COUNT_OF_DOCUMENT = (
    f"MATCH (n:{LABEL}) {_BY_DOCUMENT} WHERE n.tenant = $tenant AND n.document = $document AND n.generation IS NOT NULL RETURN [count(n)]"
)
DOCUMENTS = (
    f"MATCH (n:{LABEL}) {_BY_DOCUMENT} WHERE n.tenant = $tenant AND n.document IS NOT NULL AND n.generation IS NOT NULL "
    "WITH DISTINCT n.document AS document, n.generation AS generation ORDER BY document, generation RETURN collect([document, generation])"
)


async def by_key(ask: Ask, tenant: str, keys: Sequence[UUID]) -> dict[UUID, Node]:
    """Nodes that exist."""
    found: dict[UUID, Node] = {}
    for part in chunks(keys):
        rows = await ask(BY_KEY, tenant=tenant, keys=[node_key(tenant, each) for each in part])
        found |= {each.key: each for each in map(node, rows)}
    return found


async def by_public_id(ask: Ask, tenant: str, public_ids: Sequence[UUID]) -> dict[UUID, Node]:
    """Newest node of each."""
    found: list[Node] = []
    for part in chunks(public_ids):
        found += map(node, await ask(BY_PUBLIC_ID, tenant=tenant, ids=[each.hex for each in part]))
    return {each.public_id: each for each in sorted(found, key=lambda each: (each.generation, each.key))}


def by_name_statement(containers: Sequence[str], kinds: frozenset[NodeKind]) -> str:
    """Finds nodes by the hashes of their names."""
    condition, _ = within(containers, "n")
    of_kinds = " AND n.kind IN $kinds" if kinds else ""
    return (
        f"UNWIND $names AS name_hash MATCH (n:{LABEL}) {seek('n', 'tenant', 'name_hash')} "
        f"WHERE {_REAL} AND n.name_hash = name_hash AND {condition}{of_kinds} "
        f"RETURN {columns('n')}"
    )


async def by_name(ask: Ask, tenant: str, names: Sequence[str], *, kinds: frozenset[NodeKind], containers: tuple[str, ...]) -> list[Node]:
    """By name, then key."""
    wanted = sorted({name_hash(normalised_statement(name)) for name in names})
    _, parameters = within(containers, "n")
    found: list[Node] = []
    for part in chunks(wanted):
        rows = await ask(by_name_statement(containers, kinds), tenant=tenant, names=part, kinds=sorted(kinds), **parameters)
        found += map(node, rows)
    return sorted(found, key=lambda each: (normalised_statement(each.name), each.key))


async def in_degree(ask: Ask, tenant: str, keys: Sequence[UUID], kind: EdgeKind) -> Mapping[UUID, int]:
    """Neo4j keeps the number of relationships by type and direction beside a node that has many; they are not read."""
    found: dict[UUID, int] = dict.fromkeys(keys, 0)
    for part in chunks(keys):
        rows = await ask(in_degree_statement(kind), tenant=tenant, keys=[node_key(tenant, each) for each in part])
        found |= {UUID(hex=key): degree for key, degree in rows}
    return found


def in_degree_statement(kind: EdgeKind) -> str:
    """Counts also edges whose source has not come yet, as every adapter does."""
    return (
        f"UNWIND $keys AS key MATCH (n:{LABEL} {{key: key}}) {seek('n')} WHERE n.tenant = $tenant "
        f"RETURN collect([n.id, COUNT {{ (n)<-[:{TYPES[kind]}]-() }}])"
    )


async def count(ask: Ask, tenant: str, document: UUID | None) -> int:
    """Nodes of the tenant, or of one document."""
    if document is None:
        (number,) = await ask(COUNT, tenant=tenant)
    else:
        (number,) = await ask(COUNT_OF_DOCUMENT, tenant=tenant, document=document.hex)
    return int(number)


async def count_edges(ask: Ask, tenant: str) -> Mapping[EdgeKind, int]:
    """By kind, of kinds that have some."""
    found: dict[EdgeKind, int] = {}
    for kind, type_ in TYPES.items():
        by_tenant = seek("r", "tenant", "document", of=type_)
        text = f"MATCH ()-[r:{type_}]->() {by_tenant} WHERE r.tenant = $tenant AND r.document IS NOT NULL RETURN [count(r)]"
        (number,) = await ask(text, tenant=tenant)
        if number:
            found[kind] = number
    return found


async def documents(ask: Ask, tenant: str) -> list[tuple[UUID, int]]:
    """Ordered pairs of document and generation."""
    return [(UUID(hex=document), generation) for document, generation in await ask(DOCUMENTS, tenant=tenant)]

"""Taking things out of the graph, and what falls with them.

Neo4j reads what is committed, and a condition read before a lock may be false after it. So everything that this transaction decides on
is locked before it is read: the nodes that go, and all ends of their edges. Writers lock the ends of their edges as well (`writing`),
so that nobody adds a mention to an entity between the look at it and its removal. Locks are taken in the order of the keys; where that is
not possible, Neo4j finds the deadlock and one of the two tries again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from eunoe_stores.graph.neo4j.rows import LABEL, TYPES, chunks, node_key, seek, types
from eunoe_stores.graph.neo4j.transactions import Ask
from eunoe_stores.graph.port import EdgeKind, NodeKind

MOST_NODES = 5000
"""Nodes of a document that go in one transaction, and edges; of more, each transaction takes what falls with its own."""

OWNED = (
    f"MATCH (n:{LABEL}) {seek('n', 'tenant', 'document', 'generation')} "
    "WHERE n.tenant = $tenant AND n.document = $document AND n.generation >= $first AND n.generation <= $last "
    "WITH n LIMIT $most RETURN collect(n.key)"
)
# Of a pattern with several types the planner makes a union of one seek in the index of each.
_SEEKS = " ".join(seek("r", "tenant", "document", of=type_) for type_ in TYPES.values())
_MADE = (
    f"MATCH (s)-[r:{types(frozenset())}]->(t) {_SEEKS} WHERE r.tenant = $tenant AND r.document = $document "
    "AND r.generation >= $first AND r.generation <= $last WITH s, r, t LIMIT $most"
)
ENDS_MADE = f"{_MADE} UNWIND [s.key, t.key] AS end RETURN collect(DISTINCT end)"
UNMAKE = f"{_MADE} WITH r, s.key AS source, t.key AS target DELETE r RETURN [count(*), collect(DISTINCT source), collect(DISTINCT target)]"
_NODES = f"UNWIND $keys AS key MATCH (n:{LABEL} {{key: key}}) {seek('n')} WHERE n.tenant = $tenant"
BESIDE = f"{_NODES} MATCH (n)--(end) RETURN collect(DISTINCT end.key)"
# Setting a property locks the node until the end of the transaction, also when it has that value already.
LOCK = f"{_NODES} SET n.tenant = $tenant"
DELETE = f"{_NODES} WITH n, n.kind IS NOT NULL AS shown DETACH DELETE n RETURN [count(CASE WHEN shown THEN 1 END)]"
_MENTIONED, _RESTING = f"(n)<-[:{TYPES[EdgeKind.MENTIONS]}]-()", f"(n)-[:{TYPES[EdgeKind.DERIVED_FROM]}]->()"
# An entity that nothing mentions, a memory that rests on no passage, a session without edges, and the end of an edge that is no more.
# Other nodes have an owner who removes them.
ORPHANS = (
    f"{_NODES} AND n.document IS NULL AND CASE "
    f"WHEN n.kind = '{NodeKind.ENTITY.value}' THEN NOT EXISTS {{ {_MENTIONED} }} "
    f"WHEN n.kind = '{NodeKind.MEMORY.value}' THEN NOT EXISTS {{ {_RESTING} }} "
    f"WHEN n.kind = '{NodeKind.SESSION.value}' OR n.kind IS NULL THEN NOT EXISTS {{ (n)--() }} "
    "ELSE false END RETURN collect(n.key)"
)


async def delete_document(ask: Ask, tenant: str, document: UUID, generations: tuple[int, int]) -> tuple[int, bool]:
    """The document's nodes and edges of those generations, edges that touch the nodes, and entities, memories and sessions left alone
    by it. Returns nodes removed, and whether there may be more to remove.
    """
    first, last = generations
    of_document = {"tenant": tenant, "document": document.hex, "first": first, "last": last, "most": MOST_NODES}
    keys: list[str] = await ask(OWNED, **of_document)
    ends: list[str] = await ask(ENDS_MADE, **of_document)
    removal = _Removal(ask, tenant)
    await removal.lock({*keys, *ends, *await removal.beside(keys)})
    number, sources, targets = await ask(UNMAKE, **of_document)
    removed = await removal.remove(keys, {*sources, *targets})
    return removed, max(len(keys), number) >= MOST_NODES


async def delete_nodes(ask: Ask, tenant: str, keys: Iterable[str]) -> int:
    """The nodes, their edges, and what is left alone by it."""
    wanted = sorted(keys)
    removal = _Removal(ask, tenant)
    await removal.lock({*wanted, *await removal.beside(wanted)})
    return await removal.remove(wanted, set())


def hashed(tenant: str, keys: Iterable[UUID]) -> list[str]:
    """Keys as Neo4j has them, each once, in order."""
    return sorted({node_key(tenant, key) for key in keys})


class _Removal:
    """One transaction, and what it has locked."""

    def __init__(self, ask: Ask, tenant: str) -> None:
        self._ask = ask
        self._tenant = tenant
        self._locked: set[str] = set()

    async def lock(self, keys: set[str]) -> None:
        """Nobody else changes these nodes or their edges from now on."""
        new = sorted(keys - self._locked)
        for part in chunks(new):
            await self._ask(LOCK, tenant=self._tenant, keys=part)
        self._locked.update(new)

    async def beside(self, keys: Sequence[str]) -> set[str]:
        """The other ends of all their edges."""
        return {end for part in chunks(keys) for end in await self._ask(BESIDE, tenant=self._tenant, keys=part)}

    async def remove(self, keys: Sequence[str], ends: set[str]) -> int:
        """Remove nodes that are locked, then the orphans among `ends` and what was beside the nodes, and so on."""
        removed = 0
        while True:
            # Again, now that no edge can come any more: one may have come before the lock.
            ends |= await self.beside(keys)
            await self.lock(ends)
            for part in chunks(keys):
                (number,) = await self._ask(DELETE, tenant=self._tenant, keys=part)
                removed += number
            keys, ends = await self._orphans(ends.difference(keys)), set()
            if not keys:
                return removed

    async def _orphans(self, ends: set[str]) -> list[str]:
        found: list[str] = []
        for part in chunks(sorted(ends)):
            found += await self._ask(ORPHANS, tenant=self._tenant, keys=part)
        return found

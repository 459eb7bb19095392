"""Everything that the stores of a pipeline hold, as one comparable value without times: two runs with one outcome are equal."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_stores.catalogue.rows import Page

from eunoe_standalone.audit import every_document
from eunoe_standalone.testing_pipeline import Pipeline

INDEX_ROWS = "SELECT key, public, document, parent, container, kind, generation, position, latest FROM rows ORDER BY key"
NODES = "SELECT key, kind, public, container, document, generation, name, properties FROM graph_nodes ORDER BY key"
EDGES = "SELECT source, kind, target, document, generation, weight FROM graph_edges ORDER BY source, kind, target, document"


async def state_of(running: Pipeline, tenant: str = DEFAULT_TENANT) -> dict[str, list[Any]]:
    """Documents with their stages, units, memories, index rows, nodes, edges and blobs of a tenant."""
    stores = running.stores
    await stores.vectors.flush()
    rows = [row async for listed in every_document(stores, tenant) if (row := await stores.catalogue.document(tenant, listed.id))]
    rows.sort(key=lambda row: row.id)
    memories, _ = await stores.catalogue.list_memories(tenant, container="", document=None, kinds=frozenset(), page=Page(10_000))
    units = [unit for row in rows for unit in await stores.catalogue.units(tenant, row.id, row.generation)]
    with closing(sqlite3.connect(stores.path / "index.db")) as index, closing(sqlite3.connect(stores.path / "eunoe.db")) as database:
        indexed = index.execute(INDEX_ROWS).fetchall()
        nodes, edges = database.execute(NODES).fetchall(), database.execute(EDGES).fetchall()
    return {
        "documents": [
            (row.id, row.generation, row.status, row.degraded, dict(row.counts), {stage: each.state for stage, each in row.stages.items()})
            for row in rows
        ],
        "units": [(unit.id, unit.generation, unit.kind, unit.ordinal, unit.text, unit.context, unit.parent) for unit in units],
        "memories": sorted((each.id, each.kind, each.text, each.epoch, tuple(sorted(each.sources)), each.is_latest) for each in memories),
        "index": indexed,
        "nodes": nodes,
        "edges": edges,
        "blobs": sorted(await stores.blobs.documents(tenant)),
    }

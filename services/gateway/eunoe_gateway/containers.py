"""Containers and counts."""

from __future__ import annotations

from eunoe.v1 import admin_pb2, container_pb2
from eunoe_contracts.tenancy import Principal, Scope
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.graph.port import GraphStore
from eunoe_stores.vectors.port import VectorIndex

from eunoe_gateway import fields, protobuf
from eunoe_gateway.access import require_any
from eunoe_gateway.protobuf import struct


class Containers:
    """Calls that list containers and count."""

    def __init__(self, catalogue: Catalogue, *, vectors: VectorIndex, graph: GraphStore) -> None:
        self._catalogue = catalogue
        self._vectors = vectors
        self._graph = graph

    async def list(self, who: Principal, request: container_pb2.ContainerServiceListRequest) -> container_pb2.ContainerServiceListResponse:
        """By name; `prefix` is compared with the name as text."""
        tenant = require_any(who, Scope.INGEST, Scope.SEARCH)
        prefix = fields.line(request.prefix, "prefix").rstrip("*")
        window = fields.page(request.limit, request.offset, default=100)
        rows, total = await self._catalogue.containers(tenant, prefix=prefix, page=window)
        return container_pb2.ContainerServiceListResponse(containers=[protobuf.container(each) for each in rows], total=total)

    async def stats(self, who: Principal) -> admin_pb2.StatsResponse:
        """Counts: `documents{total, by_status}`, `memories{total, by_type, embedded}`, `relationships{total, by_type}`, `index{rows}`,
        `graph{nodes}`, `containers{total}`, `dead_letters{total}`. Relationships are what `related` shows: all edges of the graph.
        """
        tenant = require_any(who, Scope.INGEST, Scope.SEARCH)
        found = await self._catalogue.stats(tenant)
        documents = dict(found.get("documents", {}))
        memories = dict(found.get("memories", {}))
        edges = {kind.value: count for kind, count in (await self._graph.count_edges(tenant)).items()}
        return admin_pb2.StatsResponse(
            stats=struct(
                {
                    "documents": {"total": documents.pop("total", 0), "by_status": documents},
                    "memories": {
                        "total": memories.pop("total", 0),
                        "embedded": memories.pop("embedded", 0),
                        "by_type": memories,
                    },
                    "relationships": {"total": sum(edges.values()), "by_type": edges},
                    "index": {"rows": await self._vectors.count(tenant)},
                    "graph": {"nodes": await self._graph.count(tenant)},
                    "containers": {"total": found.get("containers", {}).get("total", 0)},
                    "dead_letters": {"total": found.get("dead_letters", {}).get("total", 0)},
                }
            )
        )

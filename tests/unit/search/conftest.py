from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from eunoe.v1 import search_pb2
from eunoe_contracts.content import Kind, Location, Unit
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.identity import keyed_document_id, memory_id, passage_id, root_id, row_key, session_id
from eunoe_contracts.stages import DocumentStatus
from eunoe_models.testing import HashingEmbedder
from eunoe_search.config import SearchSettings
from eunoe_search.searcher import BoundSearcher
from eunoe_search.wiring import build_searcher
from eunoe_stores.catalogue.rows import DocumentRow, MemoryRow
from eunoe_stores.graph.port import Edge, EdgeKind, Node, NodeKind
from eunoe_stores.testing import MemoryGraphStore, MemoryVectorIndex
from eunoe_stores.vectors.port import IndexRow
from eunoe_telemetry.metrics import Metrics
from eunoe_telemetry.testing import START, ManualClock

TENANT = "acme"


class Failing:
    """A store of which some calls fail, or never answer."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.failing: set[str] = set()
        self.hanging: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name in self.failing:

            async def fail(*_: Any, **__: Any) -> Any:
                raise StoreUnavailable

            return fail
        if name in self.hanging:

            async def hang(*_: Any, **__: Any) -> Any:
                await asyncio.Event().wait()

            return hang
        return getattr(self._store, name)


class Catalogue:
    """What search reads of the catalogue."""

    def __init__(self) -> None:
        self.documents: dict[UUID, DocumentRow] = {}
        self.units: dict[UUID, Unit] = {}
        self.rows: dict[UUID, MemoryRow] = {}
        self.calls: list[str] = []

    async def units_by_id(self, tenant: str, ids: Sequence[UUID]) -> Mapping[UUID, Unit]:
        self.calls.append("units_by_id")
        return {key: self.units[key] for key in ids if key in self.units and self.units[key].document in self.documents}

    async def memories(self, tenant: str, ids: Sequence[UUID]) -> Mapping[UUID, MemoryRow]:
        self.calls.append("memories")
        return {key: self.rows[key] for key in ids if key in self.rows}

    async def documents_by_id(self, tenant: str, documents: Sequence[UUID]) -> Mapping[UUID, DocumentRow]:
        self.calls.append("documents_by_id")
        return {key: self.documents[key] for key in documents if key in self.documents}


class Library:
    """A small tenant whose stores are filled as the pipeline would."""

    def __init__(self, *, with_model: bool = True) -> None:
        self.catalogue = Catalogue()
        self.index = MemoryVectorIndex()
        self.graph = MemoryGraphStore()
        self.model = HashingEmbedder() if with_model else None
        self.vectors = Failing(self.index)
        self.graphs = Failing(self.graph)
        self.metrics = Metrics()
        self.clock = ManualClock()
        self.settings = SearchSettings()

    async def add(
        self,
        name: str,
        *texts: str,
        container: str = "notes",
        generation: int = 1,
        status: DocumentStatus = DocumentStatus.DONE,
        session: str = "",
        position: int = 0,
        tags: Iterable[str] = (),
        page: int | None = None,
    ) -> UUID:
        document = keyed_document_id(TENANT, name)
        self.catalogue.documents[document] = document_row(document, name, container, generation, status, tuple(tags))
        parent = session_id(TENANT, container, session) if session else root_id(document)
        nodes = [Node(row_key(document, generation), NodeKind.DOCUMENT, document, container, document, generation, name)]
        rows = []
        for ordinal, text in enumerate(texts):
            unit = Unit(
                passage_id(document, ordinal),
                document,
                generation,
                container,
                Kind.PASSAGE,
                ordinal,
                text,
                context=f"{name}\n{text}",
                parent=root_id(document),
                location=Location(page=page, heading_path=(name, "Part")),
            )
            self.catalogue.units[unit.id] = unit
            key = row_key(unit.id, generation)
            nodes.append(Node(key, NodeKind.PASSAGE, unit.id, container, document, generation))
            rows.append(
                IndexRow(
                    key=key,
                    public_id=unit.id,
                    document=document,
                    generation=generation,
                    container=container,
                    kind=Kind.PASSAGE,
                    body=text,
                    context=unit.context,
                    vector=await self.vector(unit.context),
                    parent=parent,
                    position=position + ordinal,
                    title=name,
                    tags=tuple(tags),
                )
            )
        await self.index.upsert(TENANT, rows)
        await self.graph.upsert(TENANT, nodes, [])
        return document

    async def remember(
        self, statement: str, source: UUID, *, kind: Kind = Kind.FACT, container: str = "notes", is_latest: bool = True
    ) -> UUID:
        memory = memory_id(TENANT, container, kind, statement)
        row = MemoryRow(memory, container, kind, statement, 1, 0.9, (), {}, is_latest, None, None, START, START, (source,))
        self.catalogue.rows[memory] = row
        index_row = IndexRow(
            row_key(memory, 1), memory, source, 1, container, kind, statement, statement, await self.vector(statement), memory, 0
        )
        await self.index.upsert(TENANT, [replace(index_row, is_latest=is_latest)])
        return memory

    async def mention(self, source: UUID, target: UUID, *, generation: int = 1) -> None:
        edge = Edge(row_key(passage_id(source, 0), generation), EdgeKind.MENTIONS_DOCUMENT, row_key(target, generation), source, generation)
        await self.graph.upsert(TENANT, [], [edge])

    async def vector(self, text: str) -> Any:
        return None if self.model is None else (await self.model.embed([text]))[0]

    @property
    def searcher(self) -> BoundSearcher:
        return build_searcher(
            self.settings,
            catalogue=self.catalogue,  # type: ignore[arg-type]  # the part that search reads
            vectors=self.vectors,  # type: ignore[arg-type]  # passes calls on
            graph=self.graphs,  # type: ignore[arg-type]  # passes calls on
            model=self.model,
            clock=self.clock,
            metrics=self.metrics,
        )

    async def search(self, query: str, *, filters: Mapping[str, Any] | None = None, **fields: Any) -> search_pb2.SearchResponse:
        request = search_pb2.SearchRequest(query=query, **fields)
        request.filters.update(dict(filters or {}))
        return await self.searcher.search(TENANT, request)

    async def explain(self, query: str, hit: UUID) -> search_pb2.ExplainResponse:
        request = search_pb2.ExplainRequest(search=search_pb2.SearchRequest(query=query), hit_id=str(hit))
        return await self.searcher.explain(TENANT, request)


def document_row(document: UUID, name: str, container: str, generation: int, status: DocumentStatus, tags: tuple[str, ...]) -> DocumentRow:
    return DocumentRow(
        id=document,
        tenant=TENANT,
        generation=generation,
        container=container,
        content_type="text",
        media_type="text/plain",
        name=name,
        custom_id=f"custom-{name}",
        size=1,
        sha256="0" * 64,
        blob="source",
        metadata={"shelf": 3},
        tags=tags,
        event_time=None,
        source_url="",
        warnings=(),
        status=status,
        error_code="",
        error_message="",
        degraded=(),
        counts={},
        revision=1,
        sequence=1,
        published=True,
        created_at=START,
        updated_at=START,
    )


@pytest.fixture
def library() -> Library:
    return Library()


@pytest.fixture
def words_only() -> Library:
    return Library(with_model=False)

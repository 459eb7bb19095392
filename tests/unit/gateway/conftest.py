"""A gateway on real rules: the SQL catalogue on a file, the other stores and the log in memory, time and ids in the test's hands."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from eunoe.v1 import events_pb2, ingest_pb2, search_pb2
from eunoe_contracts import topics
from eunoe_contracts.content import Entity, Kind, Memory, Unit
from eunoe_contracts.events import Event, decode, document_event
from eunoe_contracts.identity import entity_id, memory_id, passage_id, root_id, row_key
from eunoe_contracts.stages import FOLLOWS, Stage
from eunoe_contracts.tenancy import Principal, Scope
from eunoe_gateway.config import AuthSettings, GatewaySettings
from eunoe_gateway.documents.sinks import Sinks
from eunoe_gateway.ports import GatewayPorts, StageInput
from eunoe_gateway.wiring import FINISH_GROUP, build, build_application
from eunoe_stores.blobs.port import BlobKey
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.catalogue.testing import open_memory_catalogue
from eunoe_stores.graph.port import Edge, EdgeKind, Node, NodeKind
from eunoe_stores.testing import MemoryBlobStore, MemoryGraphStore, MemoryVectorIndex
from eunoe_stores.vectors.port import IndexRow
from eunoe_stream.ledger import Failure, StageKey
from eunoe_stream.testing import MemoryLog
from eunoe_telemetry.metrics import Metrics
from eunoe_telemetry.testing import ManualClock, SequentialIds

INPUTS = {
    Stage.EXTRACT: StageInput(topics.DOCUMENT_ACCEPTED, "extractor"),
    Stage.EMBED: StageInput(topics.DOCUMENT_EXTRACTED, "embedder"),
    Stage.PROPOSE: StageInput(topics.DOCUMENT_EXTRACTED, "llm-extractor"),
    Stage.STRUCTURE: StageInput(topics.DOCUMENT_EXTRACTED, "graph"),
    Stage.EMBED_MEMORIES: StageInput(topics.MEMORIES_PROPOSED, "embedder"),
    Stage.RELATE: StageInput(topics.MEMORIES_EMBEDDED, "graph"),
}


class EchoSearcher:
    async def search(self, tenant: str, request: search_pb2.SearchRequest) -> search_pb2.SearchResponse:
        return search_pb2.SearchResponse(query=f"{tenant}:{request.query}")

    async def explain(self, tenant: str, request: search_pb2.ExplainRequest) -> search_pb2.ExplainResponse:
        return search_pb2.ExplainResponse()


class World:
    """The gateway and hands that do the other stages' work."""

    def __init__(self, catalogue: Any, settings: GatewaySettings) -> None:
        self.clock, self.ids, self.metrics = ManualClock(), SequentialIds(), Metrics()
        self.catalogue = catalogue
        self.blobs, self.vectors, self.graph = MemoryBlobStore(now=self.clock.now), MemoryVectorIndex(), MemoryGraphStore()
        self.log = MemoryLog(clock=self.clock, ids=self.ids)
        self.has_space = True
        self.settings = settings
        self.ports = GatewayPorts(
            catalogue=catalogue,
            blobs=self.blobs,
            vectors=self.vectors,
            graph=self.graph,
            log=self.log,
            searcher=EchoSearcher(),
            clock=self.clock,
            ids=self.ids,
            metrics=self.metrics,
            inputs=INPUTS,
            has_space=lambda: self.has_space,
        )
        self.sinks = Sinks(catalogue, self.vectors, self.graph, self.blobs)
        self.gateway = build_application(settings, AuthSettings(api_token=""), self.ports, probes={})
        self.service = build(settings, self.ports, self.gateway)
        self.who = Principal("t1", frozenset(Scope))

    @property
    def sweeper(self) -> Any:
        return self.service.background[0].run.__self__  # type: ignore[attr-defined]  # a bound method

    async def post(self, text: str = "Alice likes tea.", **info: Any) -> ingest_pb2.Acceptance:
        request = ingest_pb2.IngestRequest(info=ingest_pb2.ContentInfo(**info), text=text)
        return (await self.gateway.ingest(self.who, request)).acceptance

    async def upload(self, data: bytes, *, sha256: str = "", size: int | None = None, **info: Any) -> ingest_pb2.Acceptance:
        start = ingest_pb2.UploadStart(info=ingest_pb2.ContentInfo(**info), declared_sha256=sha256, declared_size=size)

        async def chunks() -> AsyncIterator[bytes]:
            for at in range(0, len(data), 100_000):
                yield data[at : at + 100_000]

        return (await self.gateway.upload(self.who, lambda: start, chunks())).acceptance

    def events(self, topic: str) -> list[Event]:
        return [decode(each) for each in self.log.records(topic)]

    async def row(self, document: str) -> Any:
        return await self.catalogue.document("t1", UUID(document))

    async def stage(self, document: str, stage: Stage, *, code: str = "") -> None:
        """Run one stage of the current generation, or give it up with `code`."""
        row = await self.row(document)
        key = StageKey(row.id, row.generation, stage)
        await self.catalogue.claim("t1", key, owner="w", lease_s=60, now=self.clock.now())
        if code:
            failure = Failure(code, f"{stage} gave up", 5, self.clock.now(), self.clock.now())
            await self.catalogue.exhaust("t1", key, failure)
            return
        await getattr(self, f"_{stage.value}")(row)
        await self.catalogue.finish("t1", key, owner="w", now=self.clock.now())

    async def _extract(self, row: Any) -> None:
        text = (await self.blobs.read("t1", self.blob_key(row))).decode()
        root = Unit(root_id(row.id), row.id, row.generation, row.container, Kind.ROOT, 0, text, indexed=False)
        parts = [
            Unit(passage_id(row.id, at), row.id, row.generation, row.container, Kind.PASSAGE, at, part, part, root.id)
            for at, part in enumerate(text.split("\n\n"))
        ]
        await self.catalogue.put_units("t1", row.id, row.generation, [root, *parts], title=row.name, now=self.clock.now())

    async def _embed(self, row: Any) -> None:
        units = await self.catalogue.units("t1", row.id, row.generation)
        await self.vectors.upsert("t1", [self.index_row(each) for each in units if each.indexed])

    async def _structure(self, row: Any) -> None:
        units = await self.catalogue.units("t1", row.id, row.generation)
        nodes = [Node(row_key(row.id, row.generation), NodeKind.DOCUMENT, row.id, row.container, row.id, row.generation, row.name)]
        nodes += [
            Node(row_key(each.id, each.generation), NodeKind(each.kind), each.id, row.container, row.id, row.generation) for each in units
        ]
        edges = [Edge(nodes[0].key, EdgeKind.HAS_PASSAGE, each.key, row.id, row.generation) for each in nodes[1:]]
        await self.graph.upsert("t1", nodes, edges)

    async def _propose(self, row: Any) -> None:
        units = await self.catalogue.units("t1", row.id, row.generation, kinds=frozenset({Kind.PASSAGE}))
        alice = Entity(entity_id("t1", row.container, "Alice", "name"), row.container, "Alice", "name")
        made = [
            Memory(
                id=memory_id("t1", row.container, "fact", each.text),
                container=row.container,
                kind=Kind.FACT,
                text=each.text,
                document=row.id,
                generation=row.generation,
                unit=each.id,
                span=each.text,
                confidence=0.9,
                entities=(alice,),
            )
            for each in units
            if "Alice" in each.text
        ]
        await self.catalogue.put_memories("t1", row.id, row.generation, made, now=self.clock.now())

    async def _embed_memories(self, row: Any) -> None:
        for memory, unit, _ in await self.catalogue.memories_of("t1", row.id, row.generation):
            made = Unit(memory.id, row.id, row.generation, row.container, Kind(memory.kind), 0, memory.text, memory.text, unit)
            await self.vectors.upsert("t1", [self.index_row(made, epoch=memory.epoch)])

    async def _relate(self, row: Any) -> None:
        for memory, unit, _ in await self.catalogue.memories_of("t1", row.id, row.generation):
            node = Node(row_key(memory.id, memory.epoch), NodeKind.MEMORY, memory.id, row.container)
            source = Edge(node.key, EdgeKind.DERIVED_FROM, row_key(unit, row.generation), row.id, row.generation, 0.9)
            await self.graph.upsert("t1", [node], [source])

    def index_row(self, unit: Unit, *, epoch: int | None = None) -> IndexRow:
        return IndexRow(
            key=row_key(unit.id, unit.generation if epoch is None else epoch),
            public_id=unit.id,
            document=unit.document,
            generation=unit.generation,
            container=unit.container,
            kind=unit.kind,
            body=unit.text,
            context=unit.context,
            vector=np.array([1.0, 0.0], dtype=np.float32),
            parent=unit.parent or unit.document,
            position=unit.ordinal,
        )

    def blob_key(self, row: Any) -> Any:
        return BlobKey(row.id, row.generation, row.blob)

    async def process(self, document: str, *, failing: Mapping[Stage, str] | None = None) -> Sequence[Event]:
        """All stages, then the finisher, as often as the pipeline would call it."""
        events: list[Event] = []
        for stage in Stage:
            if FOLLOWS.get(stage) in (failing or {}):
                continue  # its input never comes
            await self.stage(document, stage, code=(failing or {}).get(stage, ""))
            events.extend(await self.finish(document))
            row = await self.row(document)
            if row is None or row.status.is_end:
                break
        return events

    async def finish(self, document: str, *, generation: int = 0) -> Sequence[Event]:
        row = await self.row(document)
        number = generation or (row.generation if row else 1)
        body = events_pb2.StageFinished(tenant="t1", document_id=document, generation=number, stage="embed")
        subscription = next(each for each in self.service.subscriptions if each.group == FINISH_GROUP)
        return await subscription.handler(document_event(topics.STAGE_FINISHED, body))

    async def nothing_left(self) -> bool:
        """Nothing is stored, staged, open or published."""
        is_empty = await self.blobs.tenants() == [] and await self.catalogue.count_open() == 0
        return is_empty and self.events(topics.DOCUMENT_ACCEPTED) == []

    async def remains(self, document: str) -> dict[str, int]:
        """What each store still holds of a document."""
        identifier = UUID(document)
        row = await self.row(document)
        generations = range(1, (row.generation if row else 3) + 1)
        units = [each for number in generations for each in await self.catalogue.units("t1", identifier, number)]
        return {
            "vectors": await self.vectors.count("t1", document=identifier),
            "graph": await self.graph.count("t1", document=identifier),
            "units": len(units),
            "blobs": sum(found == identifier for found, _ in await self.blobs.documents("t1")),
        }


@pytest.fixture
async def catalogue(tmp_path: Path) -> AsyncIterator[Catalogue]:
    async with open_memory_catalogue(tmp_path) as made:
        yield made


@pytest.fixture
def world(catalogue: Any) -> World:
    return World(catalogue, GatewaySettings(max_text_bytes=100_000, max_upload_bytes=1_000_000, queue_limit=50))

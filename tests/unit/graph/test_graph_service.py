"""The graph's use cases: structure, mentions in both directions of time, turns, memories, removal."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.content import Entity, Kind, Location, Unit
from eunoe_contracts.events import Event, document_event
from eunoe_contracts.identity import entity_id, passage_id, root_id, row_key, section_id, session_id
from eunoe_contracts.stages import DocumentStatus, Stage
from eunoe_graph import service as service_module
from eunoe_graph.config import GraphSettings
from eunoe_graph.service import erase, relate, structure, undo
from eunoe_graph.wiring import build
from eunoe_stores.catalogue.rows import DocumentRow, MemoryRow
from eunoe_stores.graph.port import Edge, EdgeKind, Neighbour, Node, NodeKind
from eunoe_stores.testing import MemoryGraphStore

NOW = datetime(2024, 1, 1, tzinfo=UTC)
TENANT = "default"


class YieldingStore(MemoryGraphStore):
    """Lets other tasks run before every call, so that handlers interleave."""

    async def upsert(self, tenant: str, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        await asyncio.sleep(0)
        await super().upsert(tenant, nodes, edges)

    async def neighbours(
        self, tenant: str, key: UUID, *, kinds: frozenset[EdgeKind] = frozenset(), outgoing: bool | None = None, limit: int = 50
    ) -> Sequence[Neighbour]:
        await asyncio.sleep(0)
        return await super().neighbours(tenant, key, kinds=kinds, outgoing=outgoing, limit=limit)

    async def beside(self, tenant: str, key: UUID, kind: EdgeKind, *, weight: float, but: UUID) -> tuple[Node | None, Node | None]:
        await asyncio.sleep(0)
        return await super().beside(tenant, key, kind, weight=weight, but=but)

    async def by_name(
        self, tenant: str, names: Sequence[str], *, kinds: frozenset[NodeKind], containers: tuple[str, ...]
    ) -> Sequence[Node]:
        await asyncio.sleep(0)
        return await super().by_name(tenant, names, kinds=kinds, containers=containers)

    @property
    def all_nodes(self) -> dict[UUID, Node]:
        return {key: node for (_, key), node in self._nodes.items()}

    @property
    def all_edges(self) -> list[Edge]:
        return list(self._edges.values())


@dataclass
class Rows:
    documents: dict[UUID, DocumentRow] = field(default_factory=dict)
    stored: dict[UUID, list[Unit]] = field(default_factory=dict)
    found: dict[UUID, list[tuple[MemoryRow, UUID, tuple[Entity, ...]]]] = field(default_factory=dict)

    async def document(self, tenant: str, document: UUID) -> DocumentRow | None:
        return self.documents.get(document)

    async def documents_by_id(self, tenant: str, documents: Sequence[UUID]) -> dict[UUID, DocumentRow]:
        return {each: self.documents[each] for each in documents if each in self.documents}

    async def units(self, tenant: str, document: UUID, generation: int, *, kinds: frozenset[Kind] = frozenset()) -> Sequence[Unit]:
        return [replace(each, generation=generation) for each in self.stored.get(document, [])]

    async def memories_of(self, tenant: str, document: UUID, generation: int) -> Sequence[tuple[MemoryRow, UUID, tuple[Entity, ...]]]:
        return self.found.get(document, [])


@dataclass
class Bench:
    rows: Rows = field(default_factory=Rows)
    graph: YieldingStore = field(default_factory=YieldingStore)

    def add(self, title: str, *texts: str, sections: int = 0, **changes: Any) -> DocumentRow:
        row = DocumentRow(
            id=uuid4(), tenant=TENANT, generation=1, container="notes", content_type="text", media_type="text/plain", name=title,
            custom_id="", size=1, sha256="", blob="source", metadata={}, tags=(), event_time=None, source_url="", warnings=(),
            status=DocumentStatus.INDEXING, error_code="", error_message="", degraded=(), counts={}, revision=1, sequence=1,
            published=True, created_at=NOW, updated_at=NOW, title=title,
        )  # fmt: skip
        row = replace(row, **changes)
        self.rows.documents[row.id] = row
        units = [Unit(root_id(row.id), row.id, 1, row.container, Kind.ROOT, 0, "root", indexed=False)]
        for at in range(sections):
            place = Location(char_start=100 * at, char_end=100 * at + 99)
            units.append(Unit(section_id(row.id, at), row.id, 1, row.container, Kind.SECTION, at, "section", location=place))
        for at, text in enumerate(texts):
            place = Location(char_start=50 * at, char_end=50 * at + 40)
            units.append(Unit(passage_id(row.id, at), row.id, 1, row.container, Kind.PASSAGE, at, text, location=place))
        self.rows.stored[row.id] = units
        return row

    async def structure(self, *rows: DocumentRow) -> None:
        for row in rows:
            assert await structure(extracted(row), catalogue=self.rows, graph=self.graph) == []

    def links(self, kind: EdgeKind) -> set[tuple[UUID, UUID]]:
        nodes = self.graph.all_nodes
        return {(nodes[edge.source].public_id, nodes[edge.target].public_id) for edge in self.graph.all_edges if edge.kind is kind}


def extracted(row: DocumentRow) -> Event:
    body = events_pb2.DocumentExtracted(tenant=row.tenant, document_id=str(row.id), generation=row.generation, passages=1)
    return document_event(topics.DOCUMENT_EXTRACTED, body)


def erased(row: DocumentRow) -> Event:
    body = events_pb2.DocumentErased(tenant=row.tenant, document_id=str(row.id), generation=row.generation)
    return document_event(topics.DOCUMENT_ERASED, body)


def embedded(row: DocumentRow) -> Event:
    body = events_pb2.MemoriesEmbedded(tenant=row.tenant, document_id=str(row.id), generation=row.generation, container=row.container)
    return document_event(topics.MEMORIES_EMBEDDED, body)


async def test_structure_of_a_document_with_sections():
    bench = Bench()
    row = bench.add("Log", "one", "two", "three", "four", sections=2)
    await bench.structure(row)
    root = root_id(row.id)
    sections = [section_id(row.id, at) for at in range(2)]
    passages = [passage_id(row.id, at) for at in range(4)]
    assert bench.links(EdgeKind.HAS_ROOT) == {(row.id, root)}
    assert bench.links(EdgeKind.HAS_SECTION) == {(row.id, section) for section in sections}
    assert bench.links(EdgeKind.HAS_PASSAGE) == {(sections[at // 2], passage) for at, passage in enumerate(passages)}
    assert bench.links(EdgeKind.WAYPOINT) == {pair for section in sections for pair in ((root, section), (section, root))}
    assert bench.links(EdgeKind.NEXT) == {(sections[0], sections[1]), *itertools.pairwise(passages)}


async def test_structure_of_a_short_document():
    bench = Bench()
    row = bench.add("Log", "one", "two")
    await bench.structure(row)
    assert bench.links(EdgeKind.HAS_PASSAGE) == {(row.id, passage_id(row.id, at)) for at in range(2)}
    assert bench.links(EdgeKind.WAYPOINT) == set()


async def test_the_same_event_twice_stores_the_same():
    bench = Bench()
    rows = [bench.add("Ed Wood", "A film by Tim Burton."), bench.add("Tim Burton", "He made Ed Wood.")]
    await bench.structure(*rows)
    before = (bench.graph.all_nodes, bench.graph.all_edges)
    await bench.structure(*rows)
    assert before == (bench.graph.all_nodes, bench.graph.all_edges)


TEXTS = (
    ("Ed Wood (film)", "Ed Wood is a film by Tim Burton with Johnny Depp."),
    ("Tim Burton", "He filmed the Kafka notes and met Ed Wood."),
    ("Kafka notes", "Nothing about anybody, but for Shirley."),
    ("A Kiss for Corliss", 'Starring Shirley Temple Black, see "a third thing".'),
    ("Shirley Temple", "She was in A Kiss for Corliss."),
    ("a third thing", "It mentions itself: a third thing."),
    ("Kiss", "Too short a title, as in A Kiss for Corliss."),
)
EXPECTED = {(0, 1), (1, 0), (1, 2), (3, 4), (3, 5), (4, 3), (6, 3)}


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5, 6), (6, 5, 4, 3, 2, 1, 0), (3, 0, 5, 2, 6, 1, 4)])
async def test_titles_are_linked_whichever_document_comes_first(order: tuple[int, ...]):
    bench = Bench()
    rows = [bench.add(title, text) for title, text in TEXTS]
    await bench.structure(*(rows[at] for at in order))
    links = bench.links(EdgeKind.MENTIONS_DOCUMENT)
    assert links == {(passage_id(rows[source].id, 0), rows[target].id) for source, target in EXPECTED}


async def test_titles_are_linked_when_documents_come_at_the_same_time():
    bench = Bench()
    rows = [bench.add(title, text) for title, text in TEXTS]
    await asyncio.gather(*(bench.structure(row) for row in rows))
    links = bench.links(EdgeKind.MENTIONS_DOCUMENT)
    assert links == {(passage_id(rows[source].id, 0), rows[target].id) for source, target in EXPECTED}


async def test_titles_are_linked_only_inside_a_container():
    bench = Bench()
    rows = [bench.add("Ed Wood", "A film by Tim Burton."), bench.add("Tim Burton", "He made Ed Wood.", container="other")]
    await bench.structure(*rows)
    assert bench.links(EdgeKind.MENTIONS_DOCUMENT) == set()


async def test_a_new_generation_is_linked_again():
    bench = Bench()
    source, target = bench.add("Notes of May", "We saw Ed Wood."), bench.add("Ed Wood", "A film.")
    await bench.structure(source, target)
    newer = replace(target, generation=2)
    bench.rows.documents[target.id] = newer
    await bench.structure(newer)
    edges = [edge for edge in bench.graph.all_edges if edge.kind is EdgeKind.MENTIONS_DOCUMENT]
    assert {edge.target for edge in edges} == {row_key(target.id, 1), row_key(target.id, 2)}


def turn(bench: Bench, position: int) -> DocumentRow:
    return bench.add("", f"turn {position}", metadata={"session": "s", "position": position})


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (0, 3, 1, 2)])
async def test_turns_follow_each_other_in_any_order_of_arrival(order: tuple[int, ...]):
    bench = Bench()
    rows = [turn(bench, at) for at in range(4)]
    await bench.structure(*(rows[at] for at in order))
    session = row_key(session_id(TENANT, "notes", "s"), 0)
    held = await bench.graph.neighbours(TENANT, session, kinds=frozenset({EdgeKind.HAS_PASSAGE}), outgoing=True)
    assert {each.node.document for each in held} == {row.id for row in rows}
    for before, after in itertools.pairwise(rows):
        key = row_key(passage_id(before.id, 0), 1)
        following = await bench.graph.neighbours(TENANT, key, kinds=frozenset({EdgeKind.NEXT}), outgoing=True)
        assert following[0].node.document == after.id


def memory(text: str) -> MemoryRow:
    return MemoryRow(
        uuid4(), "notes", "fact", text, 1, 0.9, (), {}, is_latest=True, superseded_by=None, event_time=None, created_at=NOW, updated_at=NOW
    )


async def test_memories_rest_on_passages_and_mention_entities():
    bench = Bench()
    row = bench.add("Log", "We hired Ann.")
    fact = memory("We hired Ann.")
    ann = Entity(entity_id(TENANT, "notes", "Ann", "name"), "notes", "Ann", "name")
    bench.rows.found[row.id] = [(fact, passage_id(row.id, 0), (ann,))]
    await bench.structure(row)
    assert await relate(embedded(row), catalogue=bench.rows, graph=bench.graph) == []
    assert bench.links(EdgeKind.DERIVED_FROM) == {(fact.id, passage_id(row.id, 0))}
    assert {(passage_id(row.id, 0), ann.id), (fact.id, ann.id)} <= bench.links(EdgeKind.MENTIONS)
    assert bench.graph.all_nodes[row_key(fact.id, 1)].kind is NodeKind.MEMORY


async def test_erasure_leaves_nothing_that_only_this_document_held():
    bench = Bench()
    first, second = turn(bench, 0), turn(bench, 1)
    alone, both = memory("alone"), memory("both")
    bench.rows.found[first.id] = [(alone, passage_id(first.id, 0), ()), (both, passage_id(first.id, 0), ())]
    bench.rows.found[second.id] = [(both, passage_id(second.id, 0), ())]
    await bench.structure(first, second)
    for row in (first, second):
        await relate(embedded(row), catalogue=bench.rows, graph=bench.graph)
    await erase(erased(first), graph=bench.graph)
    left = {node.public_id for node in bench.graph.all_nodes.values()}
    assert left >= {second.id, both.id, session_id(TENANT, "notes", "s")}
    assert not left & {first.id, alone.id, passage_id(first.id, 0)}
    for _ in range(2):
        await erase(erased(second), graph=bench.graph)
    assert bench.graph.all_nodes == {}
    assert bench.graph.all_edges == []


async def test_nothing_happens_behind_the_fence():
    bench = Bench()
    row = bench.add("Log", "text")
    bench.rows.documents[row.id] = replace(row, generation=2)
    await bench.structure(row)
    await relate(embedded(row), catalogue=bench.rows, graph=bench.graph)
    assert bench.graph.all_nodes == {}


async def test_undo_removes_one_generation_and_of_an_erased_document_everything():
    bench = Bench()
    row = bench.add("Log", "We met Ann Smith.", sections=1)
    await bench.structure(row)
    newer = replace(row, generation=2)
    bench.rows.documents[row.id] = newer
    await bench.structure(newer)
    await undo(extracted(newer), catalogue=bench.rows, graph=bench.graph)
    own = {node.generation for node in bench.graph.all_nodes.values() if node.document == row.id}
    assert own == {1}
    del bench.rows.documents[row.id]
    await undo(extracted(newer), catalogue=bench.rows, graph=bench.graph)
    assert bench.graph.all_nodes == {}
    assert bench.graph.all_edges == []


@pytest.mark.parametrize("writes_before", range(6))
@pytest.mark.parametrize("batch", [2, 2500])
async def test_an_erasure_between_two_writes_leaves_nothing_behind(writes_before: int, batch: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(service_module, "BATCH", batch)
    bench = Bench()
    row = bench.add("Log", "We hired Ann Smith.", "Ann Smith likes tea.", metadata={"session": "s", "position": 0})
    ann = Entity(entity_id(TENANT, "notes", "Ann Smith", "name"), "notes", "Ann Smith", "name")
    bench.rows.found[row.id] = [(memory("Ann Smith likes tea."), passage_id(row.id, 1), (ann,))]

    upsert, left = bench.graph.upsert, itertools.count(writes_before, -1)

    async def erasing(tenant: str, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        if next(left) == 0:
            await erase(erased(row), graph=bench.graph)
        await upsert(tenant, nodes, edges)

    monkeypatch.setattr(bench.graph, "upsert", erasing)
    await bench.structure(row)
    await relate(embedded(row), catalogue=bench.rows, graph=bench.graph)
    del bench.rows.documents[row.id]
    await undo(embedded(row), catalogue=bench.rows, graph=bench.graph)
    assert bench.graph.all_nodes == {}
    assert bench.graph.all_edges == []


def test_wiring_names_stages():
    bench: Any = Bench()
    service = build(GraphSettings(), catalogue=bench.rows, graph=bench.graph)
    assert [(each.topic, each.stage, each.undo is not None) for each in service.subscriptions] == [
        (topics.DOCUMENT_EXTRACTED, Stage.STRUCTURE, True),
        (topics.MEMORIES_EMBEDDED, Stage.RELATE, True),
        (topics.DOCUMENT_ERASED, None, False),
    ]


async def test_undo_finds_a_memory_whose_passage_is_gone_already():
    bench = Bench()
    row, other = bench.add("Log", "Ann likes tea."), bench.add("Note", "Ann likes tea.")
    alone, both = memory("Ann likes tea."), replace(memory("Ann is here."), sources=(row.id, other.id))
    ann = Entity(entity_id(TENANT, "notes", "Ann", "name"), "notes", "Ann", "name")
    bench.rows.found[row.id] = [(alone, passage_id(row.id, 0), ()), (both, passage_id(row.id, 0), (ann,))]
    bench.rows.found[other.id] = [(both, passage_id(other.id, 0), (ann,))]
    await relate(embedded(row), catalogue=bench.rows, graph=bench.graph)
    await relate(embedded(other), catalogue=bench.rows, graph=bench.graph)
    bench.rows.documents[row.id] = replace(row, status=DocumentStatus.CANCELLED)
    await undo(embedded(row), catalogue=bench.rows, graph=bench.graph)
    assert set(bench.graph.all_nodes) == {row_key(both.id, both.epoch), row_key(ann.id, 0)}
    assert {edge.document for edge in bench.graph.all_edges} == {other.id}, "an edge between two nodes that others hold too"

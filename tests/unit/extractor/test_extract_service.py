"""The extractor's use cases, against small fakes of the ports."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.content import Kind, Unit, assemble_text
from eunoe_contracts.errors import CapabilityUnavailable, EmptyExtraction, EmptyFile, FormatMismatch, LowTextQuality, ReadBackFailed
from eunoe_contracts.events import Event, document_event
from eunoe_contracts.identity import session_id, sha256_hex
from eunoe_contracts.stages import DocumentStatus
from eunoe_extractor.config import ExtractorSettings
from eunoe_extractor.parsed import Block, BlockKind, ParsedDocument
from eunoe_extractor.segments.limits import Limits
from eunoe_extractor.service import erase, extract, undo_extract
from eunoe_extractor.wiring import build
from eunoe_stores.blobs.port import BlobKey
from eunoe_stores.catalogue.rows import DocumentRow, EarlierTurn
from eunoe_stores.testing import MemoryBlobStore

NOW = datetime(2024, 1, 1, tzinfo=UTC)


class StandingClock:
    """Stands still; `sleep` lets other tasks run and, where it is the only time that passes, moves it on."""

    def __init__(self, *, moves: bool = True) -> None:
        self.elapsed = 0.0
        self._moves = moves

    def now(self) -> datetime:
        return NOW

    def monotonic(self) -> float:
        return self.elapsed

    async def sleep(self, seconds: float) -> None:
        self.elapsed += seconds if self._moves else 0
        await asyncio.sleep(0)


@dataclass
class Rows:
    """Documents and units in dicts: the part of the catalogue that the extractor uses."""

    documents: dict[UUID, DocumentRow] = field(default_factory=dict)
    stored: dict[UUID, list[Unit]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    titles: dict[UUID, str] = field(default_factory=dict)
    fenced: bool = False

    async def document(self, tenant: str, document: UUID) -> DocumentRow | None:
        return self.documents.get(document)

    async def add_warnings(self, tenant: str, document: UUID, generation: int, warnings: Sequence[str]) -> None:
        self.warnings.extend(warnings)

    async def put_units(self, tenant: str, document: UUID, generation: int, units: Sequence[Unit], *, title: str, now: datetime) -> bool:
        if not self.fenced:
            self.stored[document] = list(units)
            self.titles[document] = title
        return not self.fenced

    async def units(self, tenant: str, document: UUID, generation: int, *, kinds: frozenset[Kind] = frozenset()) -> Sequence[Unit]:
        return [each for each in self.stored.get(document, []) if not kinds or each.kind in kinds]

    async def delete_units(self, tenant: str, document: UUID, *, through_generation: int) -> int:
        return len(self.stored.pop(document, []))

    async def turn_before(self, tenant: str, container: str, session: str, *, before: int) -> EarlierTurn | None:
        earlier = [
            (int(row.metadata["position"]), row)  # type: ignore[arg-type]
            for row in self.documents.values()
            if row.metadata.get("session") == session and int(row.metadata["position"]) < before  # type: ignore[arg-type]
        ]
        if not earlier:
            return None
        position, row = max(earlier, key=lambda each: each[0])
        passages = tuple(unit for unit in self.stored.get(row.id, []) if unit.kind is Kind.PASSAGE)
        awaited = not passages and row.status in {DocumentStatus.QUEUED, DocumentStatus.EXTRACTING}
        return EarlierTurn(row.id, position, passages, is_awaited=awaited)


@dataclass
class ReadyParser:
    """Answers with the text of the file as paragraphs, or with what it was given."""

    answer: ParsedDocument | None = None

    async def parse(self, path: Path, *, format_id: str, name: str) -> ParsedDocument:
        if self.answer is not None:
            return self.answer
        text = path.read_text()  # noqa: ASYNC240 - a test file of a few bytes
        blocks = tuple(Block(BlockKind.PARAGRAPH, part) for part in text.split("\n\n"))
        return ParsedDocument(format_id, blocks=blocks, warnings=("one warning",))


def document(**changes: Any) -> DocumentRow:
    row = DocumentRow(
        id=uuid4(), tenant="default", generation=1, container="notes", content_type="text", media_type="text/plain", name="a note.txt",
        custom_id="", size=1, sha256="", blob="source-0123456789abcdef", metadata={}, tags=(), event_time=None, source_url="",
        warnings=(), status=DocumentStatus.EXTRACTING, error_code="", error_message="", degraded=(), counts={}, revision=1,
        sequence=1, published=True, created_at=NOW, updated_at=NOW,
    )  # fmt: skip
    return replace(row, **changes)


def accepted(row: DocumentRow, *, generation: int = 1) -> Event:
    body = events_pb2.DocumentAccepted(tenant=row.tenant, document_id=str(row.id), generation=generation)
    return document_event(topics.DOCUMENT_ACCEPTED, body, trace="trace")


@dataclass
class Bench:
    rows: Rows = field(default_factory=Rows)
    blobs: MemoryBlobStore = field(default_factory=MemoryBlobStore)
    parser: ReadyParser = field(default_factory=ReadyParser)
    clock: StandingClock = field(default_factory=StandingClock)
    formats: frozenset[str] = frozenset({"text", "pdf"})

    async def add(self, data: bytes, **changes: Any) -> DocumentRow:
        row = document(**{"sha256": sha256_hex(data), **changes})
        self.rows.documents[row.id] = row
        await self.blobs.put(row.tenant, BlobKey(row.id, row.generation, row.blob), data)
        return row

    async def extract(self, event: Event) -> Sequence[Event]:
        return await extract(
            event,
            catalogue=self.rows,
            blobs=self.blobs,
            parser=self.parser,
            formats=self.formats,
            tokens=None,
            limits=Limits(),
            clock=self.clock,
        )


async def test_a_document_becomes_units_and_an_event():
    bench = Bench()
    row = await bench.add(b"First.\n\nSecond.")
    (event,) = await bench.extract(accepted(row))
    assert isinstance(event.body, events_pb2.DocumentExtracted)
    assert (event.topic, event.key, event.trace) == (topics.DOCUMENT_EXTRACTED, f"default/{row.id}", "trace")
    assert (event.body.passages, event.body.generation) == (1, 1)
    assert assemble_text(bench.rows.stored[row.id]) == "First.\n\nSecond."
    assert bench.rows.titles[row.id] == "a note"
    assert bench.rows.warnings == ["one warning"]


async def test_the_same_event_twice_gives_the_same():
    bench = Bench()
    row = await bench.add(b"First.\n\nSecond.")
    first = await bench.extract(accepted(row))
    units = bench.rows.stored[row.id]
    assert await bench.extract(accepted(row)) == first
    assert bench.rows.stored[row.id] == units


async def test_titles_come_from_the_caller_then_the_document_then_the_name():
    bench = Bench()
    bench.parser.answer = ParsedDocument("text", title="Inside", blocks=(Block(BlockKind.PARAGRAPH, "x"),))
    given = await bench.add(b"x", metadata={"title": "Given"})
    inside = await bench.add(b"x")
    await bench.extract(accepted(given))
    await bench.extract(accepted(inside))
    assert bench.rows.titles == {given.id: "Given", inside.id: "Inside"}


async def test_bytes_that_were_not_accepted_are_not_read():
    bench = Bench()
    row = await bench.add(b"First.\n\nSec", sha256=sha256_hex(b"First.\n\nSecond."))
    with pytest.raises(ReadBackFailed):
        await bench.extract(accepted(row))
    assert bench.rows.stored == {}


async def test_no_text_is_empty_extraction():
    bench = Bench()
    bench.parser.answer = ParsedDocument("text")
    row = await bench.add(b"x")
    with pytest.raises(EmptyExtraction):
        await bench.extract(accepted(row))
    assert not bench.rows.stored


@dataclass
class Waiting:
    """A counter whose first call waits, so that a test can cancel in the middle of the segmenter's thread."""

    window: int = 100
    calls: int = 0
    begun: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)

    def count(self, text: str) -> int:
        self.calls += 1
        self.begun.set()
        self.go_on.wait(10)
        return len(text)

    def cut(self, text: str, tokens: int) -> int:
        return min(len(text), tokens)

    def cut_tail(self, text: str, tokens: int) -> int:
        return max(0, len(text) - tokens)


async def test_the_segmenter_ends_soon_after_its_deadline():
    bench, counter = Bench(), Waiting()
    row = await bench.add(b"First.\n\nSecond.\n\nThird.\n\n" * 600)  # long enough for a thread
    ports = {"catalogue": bench.rows, "blobs": bench.blobs, "parser": bench.parser, "formats": {"text"}, "tokens": counter}
    task = asyncio.create_task(extract(accepted(row), **ports, limits=Limits(), clock=bench.clock))
    assert await asyncio.to_thread(counter.begun.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    counter.go_on.set()
    await asyncio.get_running_loop().shutdown_default_executor()  # waits for the thread
    assert counter.calls == 1
    assert not bench.rows.stored


async def test_unreadable_text_is_low_text_quality():
    bench = Bench()
    bench.parser.answer = ParsedDocument("text", blocks=(Block(BlockKind.PARAGRAPH, "\ufffd\ue000(cid:12) ab" * 20),))
    row = await bench.add(b"x")
    with pytest.raises(LowTextQuality):
        await bench.extract(accepted(row))


@pytest.mark.parametrize(("data", "error"), [(b"", EmptyFile), (b"%PDF-1.7\n%\x00\x01\x02\x03", FormatMismatch)])
async def test_the_format_is_verified_again(data: bytes, error: type[Exception]):
    bench = Bench()
    row = await bench.add(data)
    with pytest.raises(error):
        await bench.extract(accepted(row))


async def test_a_format_that_was_not_chosen_is_not_read():
    bench = Bench(formats=frozenset({"pdf"}))
    row = await bench.add(b"text")
    with pytest.raises(CapabilityUnavailable, match="does not read text"):
        await bench.extract(accepted(row))
    assert not bench.rows.stored


async def test_nothing_happens_behind_the_fence():
    bench = Bench()
    row = await bench.add(b"text", generation=2)
    assert await bench.extract(accepted(row, generation=1)) == []
    assert await bench.extract(accepted(document())) == []
    bench.rows.fenced = True
    assert await bench.extract(accepted(row, generation=2)) == []
    assert not bench.rows.stored


async def test_a_turn_knows_the_whole_turn_before_it():
    bench = Bench()
    ann = await bench.add(b"Did you go hiking?", metadata={"session": "s", "position": 0, "speaker": "Ann"})
    bo = await bench.add(b"On Sunday.", metadata={"session": "s", "position": 1, "speaker": "Bo", "date": "2023-05-08"})
    await bench.extract(accepted(ann))
    await bench.extract(accepted(bo))
    passage = next(each for each in bench.rows.stored[bo.id] if each.kind is Kind.PASSAGE)
    assert passage.parent == session_id("default", "notes", "s")
    assert passage.context == "8 May 2023 > Bo\nAnn: Did you go hiking?\nOn Sunday."
    assert passage.text == "On Sunday."


async def test_turns_read_at_the_same_time_wait_for_the_one_before():
    bench = Bench(clock=StandingClock(moves=False))
    rows = [await bench.add(f"Turn {at}.".encode(), metadata={"session": "s", "position": at}) for at in range(6)]
    await asyncio.gather(*(bench.extract(accepted(row)) for row in reversed(rows)))
    for at, row in enumerate(rows[1:], start=1):
        passage = next(each for each in bench.rows.stored[row.id] if each.kind is Kind.PASSAGE)
        assert passage.context == f"Turn {at - 1}.\nTurn {at}."


async def test_turns_that_come_in_out_of_order_know_the_turn_before():
    bench = Bench()
    later = await bench.add(b"Second.", metadata={"session": "s", "position": 1})

    async def earlier() -> None:
        await asyncio.sleep(0)  # the later one has looked and found nobody
        await bench.extract(accepted(await bench.add(b"First.", metadata={"session": "s", "position": 0})))

    await asyncio.gather(bench.extract(accepted(later)), earlier())
    assert [each.context for each in bench.rows.stored[later.id] if each.kind is Kind.PASSAGE] == ["First.\nSecond."]


async def test_a_gap_in_the_positions_costs_half_a_second_and_no_more():
    bench = Bench()
    await bench.extract(accepted(await bench.add(b"First.", metadata={"session": "s", "position": 0})))
    row = await bench.add(b"Third.", metadata={"session": "s", "position": 2})
    await bench.extract(accepted(row))
    assert [each.context for each in bench.rows.stored[row.id] if each.kind is Kind.PASSAGE] == ["First.\nThird."]
    assert bench.clock.elapsed < 0.7


async def test_a_turn_reads_the_one_before_by_itself_that_stands_behind_it_in_the_queue():
    bench = Bench()
    first = await bench.add(b"Not read yet.", metadata={"session": "s", "position": 0, "speaker": "Ann"}, status=DocumentStatus.QUEUED)
    row = await bench.add(b"Hello.", metadata={"session": "s", "position": 1})
    assert len(await bench.extract(accepted(row))) == 1
    assert bench.clock.elapsed < 0.7
    assert first.id not in bench.rows.stored
    (context,) = [each.context for each in bench.rows.stored[row.id] if each.kind is Kind.PASSAGE]
    assert context == "Ann: Not read yet.\nHello."
    await bench.extract(accepted(first))
    await bench.extract(accepted(row))
    assert [each.context for each in bench.rows.stored[row.id] if each.kind is Kind.PASSAGE] == [context]


async def test_a_turn_before_that_cannot_be_read_says_nothing():
    bench = Bench()
    await bench.add(b"   ", metadata={"session": "s", "position": 0}, status=DocumentStatus.QUEUED)
    row = await bench.add(b"Hello.", metadata={"session": "s", "position": 1})
    assert len(await bench.extract(accepted(row))) == 1
    assert [each.context for each in bench.rows.stored[row.id] if each.kind is Kind.PASSAGE] == ["Hello."]


async def test_erasure_removes_units_and_blobs_and_may_run_twice():
    bench = Bench()
    row = await bench.add(b"text")
    await bench.extract(accepted(row))
    body = events_pb2.DocumentErased(tenant="default", document_id=str(row.id), generation=1)
    event = document_event(topics.DOCUMENT_ERASED, body)
    assert await erase(event, catalogue=bench.rows, blobs=bench.blobs) == []
    assert await erase(event, catalogue=bench.rows, blobs=bench.blobs) == []
    assert not bench.rows.stored
    assert await bench.blobs.documents("default") == []


async def test_undo_removes_only_what_was_erased():
    bench = Bench()
    row = await bench.add(b"text")
    await bench.extract(accepted(row))
    await undo_extract(accepted(row), catalogue=bench.rows, blobs=bench.blobs)
    assert bench.rows.stored
    del bench.rows.documents[row.id]
    await undo_extract(accepted(row), catalogue=bench.rows, blobs=bench.blobs)
    assert not bench.rows.stored
    assert await bench.blobs.documents("default") == []


def test_wiring_names_topics_and_limits():
    bench = Bench()
    settings = ExtractorSettings(passage_tokens=300)
    service = build(settings, catalogue=bench.rows, blobs=bench.blobs, parser=bench.parser, tokens=None, clock=bench.clock, instance="a")  # type: ignore[arg-type]
    assert [(each.topic, each.group) for each in service.subscriptions] == [
        (topics.DOCUMENT_ACCEPTED, "extract"),
        (topics.DOCUMENT_ERASED, "extract"),
    ]
    assert settings.limits.passage(254) == 206
    assert settings.sandbox.wall_s < service.subscriptions[0].deadline_s

"""The llm-extractor's use case, against small fakes of the ports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.content import Kind, Memory, Unit
from eunoe_contracts.errors import ModelUnavailable
from eunoe_contracts.events import Event, document_event
from eunoe_contracts.identity import passage_id
from eunoe_contracts.stages import DocumentStatus, Stage
from eunoe_llm_extractor.backends.port import Source
from eunoe_llm_extractor.backends.rules import RulesProposer
from eunoe_llm_extractor.config import LlmSettings
from eunoe_llm_extractor.service import propose
from eunoe_llm_extractor.wiring import build
from eunoe_stores.catalogue.rows import DocumentRow, MemoryRow
from eunoe_telemetry.testing import ManualClock
from pydantic import ValidationError

NOW = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass
class Rows:
    """One document with its passages; remembers what was stored."""

    row: DocumentRow | None
    passages: list[Unit]
    stored: list[Memory] = field(default_factory=list)

    async def document(self, tenant: str, document: UUID) -> DocumentRow | None:
        return self.row

    async def units(self, tenant: str, document: UUID, generation: int, *, kinds: frozenset[Kind]) -> Sequence[Unit]:
        return [unit for unit in self.passages if unit.kind in kinds]

    async def put_memories(
        self, tenant: str, document: UUID, generation: int, memories: Sequence[Memory], *, now: datetime
    ) -> Sequence[MemoryRow]:
        self.stored = list(memories)
        return [
            MemoryRow(
                each.id, each.container, each.kind, each.text, 1, each.confidence, each.tags, each.metadata, is_latest=True,
                superseded_by=None, event_time=each.event_time, created_at=now, updated_at=now, sources=(document,),
            )
            for each in memories
        ]  # fmt: skip


def rows_with(*texts: str) -> Rows:
    row = DocumentRow(
        id=uuid4(), tenant="default", generation=1, container="notes", content_type="text", media_type="text/plain", name="a.txt",
        custom_id="", size=1, sha256="", blob="source", metadata={}, tags=(), event_time=None, source_url="", warnings=(),
        status=DocumentStatus.CHUNKING, error_code="", error_message="", degraded=(), counts={}, revision=1, sequence=1,
        published=True, created_at=NOW, updated_at=NOW, title="A",
    )  # fmt: skip
    passages = [Unit(passage_id(row.id, at), row.id, 1, "notes", Kind.PASSAGE, at, text) for at, text in enumerate(texts)]
    return Rows(row, passages)


def extracted(rows: Rows) -> Event:
    assert rows.row is not None
    body = events_pb2.DocumentExtracted(tenant="default", document_id=str(rows.row.id), generation=1, passages=len(rows.passages))
    return document_event(topics.DOCUMENT_EXTRACTED, body, trace="trace")


async def run(rows: Rows, proposer: Any = None) -> Sequence[Event]:
    return await propose(extracted(rows), catalogue=rows, proposer=proposer or RulesProposer(), clock=ManualClock())  # type: ignore[arg-type]


async def test_memories_are_stored_and_announced():
    rows = rows_with("Note: the door is red.", "Nothing to see.")
    (event,) = await run(rows)
    assert isinstance(event.body, events_pb2.MemoriesProposed)
    assert (event.topic, event.key, event.trace) == (topics.MEMORIES_PROPOSED, "default/notes", "trace")
    assert list(event.body.memory_ids) == [str(memory.id) for memory in rows.stored]
    assert [memory.text for memory in rows.stored] == ["The door is red."]
    assert await run(rows) == [event]


async def test_without_memories_nothing_follows_but_none_are_stored():
    rows = rows_with("Nothing to see.")
    rows.stored = ["of an earlier run"]  # type: ignore[list-item]
    assert await run(rows) == []
    assert rows.stored == []


class Inventive:
    """Proposes what it read, and the same with spans or passages that do not exist."""

    async def propose(self, tenant: str, source: Source) -> Sequence[Memory]:
        (true,) = await RulesProposer().propose(tenant, source)
        return [true, replace(true, id=uuid4(), span="never written"), replace(true, id=uuid4(), unit=uuid4()), replace(true, span="")]


async def test_spans_that_do_not_occur_are_dropped():
    rows = rows_with("Note: the door is red.")
    await run(rows, Inventive())
    assert len(rows.stored) == 1


class Silent:
    async def propose(self, tenant: str, source: Source) -> Sequence[Memory]:
        raise ModelUnavailable


async def test_errors_of_a_backend_reach_the_runner():
    with pytest.raises(ModelUnavailable):
        await run(rows_with("text"), Silent())


async def test_nothing_happens_behind_the_fence():
    rows = rows_with("Note: the door is red.")
    event = extracted(rows)
    for row in (None, replace(rows.row, generation=2)):  # type: ignore[type-var]
        rows.row = row
        assert await propose(event, catalogue=rows, proposer=RulesProposer(), clock=ManualClock()) == []  # type: ignore[arg-type]
    assert rows.stored == []


def test_wiring_and_settings(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EUNOE_LLM__PROVIDER", "rules")
    rows: Any = rows_with()
    (subscription,) = build(LlmSettings(), catalogue=rows, clock=ManualClock()).subscriptions
    assert (subscription.topic, subscription.stage, subscription.group) == (topics.DOCUMENT_EXTRACTED, Stage.PROPOSE, "propose")
    monkeypatch.setenv("EUNOE_LLM__PROVIDER", "oracle")
    with pytest.raises(ValidationError):
        LlmSettings()

"""The parts of a catalogue that the embedder uses, in memory, and documents to put into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from eunoe_contracts.content import Kind, Unit
from eunoe_contracts.identity import memory_id, passage_id, root_id
from eunoe_contracts.stages import DocumentStatus
from eunoe_models.testing import HashingEmbedder
from eunoe_stores.catalogue.rows import DocumentRow, MemoryRow, OrphanedMemory
from eunoe_stores.testing import MemoryVectorIndex

NOW = datetime(2024, 5, 1, tzinfo=UTC)


def document_row(number: int = 1, *, generation: int = 1, **changes: Any) -> DocumentRow:
    row = DocumentRow(
        id=UUID(int=number), tenant="t", generation=generation, container="team.a", content_type="text", media_type="text/plain",
        name="Handbook.md", custom_id="", size=1, sha256="", blob="", metadata={"user_id": "u1", "nested": {"a": 1}}, tags=("x",),
        event_time=NOW, source_url="", warnings=(), status=DocumentStatus.CHUNKING, error_code="", error_message="", degraded=(),
        counts={}, revision=1, sequence=1, published=True, created_at=NOW, updated_at=NOW,
    )  # fmt: skip
    return replace(row, **changes)


def passage(row: DocumentRow, ordinal: int, text: str, **changes: Any) -> Unit:
    unit = Unit(
        id=passage_id(row.id, ordinal), document=row.id, generation=row.generation, container=row.container, kind=Kind.PASSAGE,
        ordinal=ordinal, text=text, context=f"Handbook\n{text}", parent=root_id(row.id),
    )  # fmt: skip
    return replace(unit, **changes)


def memory_of(text: str, *sources: UUID, epoch: int = 1, **changes: Any) -> MemoryRow:
    row = MemoryRow(
        id=memory_id("t", "team.a", "fact", text), container="team.a", kind="fact", text=text, epoch=epoch, confidence=0.8, tags=(),
        metadata={}, is_latest=True, superseded_by=None, event_time=None, created_at=NOW, updated_at=NOW, sources=sources,
    )  # fmt: skip
    return replace(row, **changes)


@dataclass
class Shelf:
    """A catalogue of dicts."""

    documents: dict[UUID, DocumentRow] = field(default_factory=dict)
    stored: dict[tuple[UUID, int], list[Unit]] = field(default_factory=dict)
    facts: dict[UUID, MemoryRow] = field(default_factory=dict)
    buried: list[OrphanedMemory] = field(default_factory=list)

    def add(self, row: DocumentRow, *units: Unit, memories: Sequence[MemoryRow] = ()) -> None:
        self.documents[row.id] = row
        self.stored[row.id, row.generation] = list(units)
        self.facts |= {memory.id: memory for memory in memories}

    def forget(self, document: UUID) -> None:
        self.documents.pop(document)
        for key in [key for key in self.stored if key[0] == document]:
            self.stored.pop(key)

    async def document(self, tenant: str, document: UUID) -> DocumentRow | None:
        return self.documents.get(document)

    async def documents_by_id(self, tenant: str, documents: Sequence[UUID]) -> dict[UUID, DocumentRow]:
        return {each: self.documents[each] for each in documents if each in self.documents}

    async def units(self, tenant: str, document: UUID, generation: int) -> list[Unit]:
        return self.stored.get((document, generation), [])

    async def units_by_id(self, tenant: str, ids: Sequence[UUID]) -> dict[UUID, Unit]:
        return {unit.id: unit for units in self.stored.values() for unit in units if unit.id in ids}

    async def memories(self, tenant: str, ids: Sequence[UUID]) -> dict[UUID, MemoryRow]:
        return {each: self.facts[each] for each in ids if each in self.facts}

    async def memories_of(self, tenant: str, document: UUID, generation: int) -> list[tuple[MemoryRow, UUID, tuple[()]]]:
        return [(memory, UUID(int=0), ()) for memory in self.facts.values() if document in memory.sources]

    async def bury_memories(self, tenant: str, document: UUID, *, through_generation: int) -> list[OrphanedMemory]:
        lost = [memory for memory in self.facts.values() if set(memory.sources) == {document}]
        for memory in lost:
            self.buried.append(OrphanedMemory(memory.id, memory.epoch))
            self.facts.pop(memory.id)
        return self.buried


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def index() -> MemoryVectorIndex:
    return MemoryVectorIndex()


@pytest.fixture
def model() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture
def make() -> SimpleNamespace:
    """Builders, since tests do not import from here."""
    return SimpleNamespace(document=document_row, passage=passage, memory=memory_of)

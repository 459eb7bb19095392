"""What the pipeline makes of a document: passages, sections, a root; and memories, entities. Plain immutable values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias
from uuid import UUID

Scalar: TypeAlias = str | int | float | bool | None
Json: TypeAlias = Scalar | list["Json"] | dict[str, "Json"]
Metadata: TypeAlias = Mapping[str, Json]


class Kind(StrEnum):
    """What a text unit is. Passages and roots come from the extractor, the last five from the llm-extractor."""

    PASSAGE = "passage"
    SECTION = "section"
    ROOT = "root"
    FACT = "fact"
    PREFERENCE = "preference"
    EPISODE = "episode"
    INSIGHT = "insight"
    TASK = "task"


STRUCTURE_KINDS = frozenset({Kind.PASSAGE, Kind.SECTION, Kind.ROOT})
MEMORY_KINDS = frozenset(Kind) - STRUCTURE_KINDS


@dataclass(frozen=True, slots=True)
class Location:
    """Where a text stands in its document. Pages count from 1; times in seconds; characters from 0 in the extracted text."""

    page: int | None = None
    start_s: float | None = None
    end_s: float | None = None
    heading_path: tuple[str, ...] = ()
    speaker: str = ""
    char_start: int = 0
    char_end: int = 0


@dataclass(frozen=True, slots=True)
class Unit:
    """A passage, section or root of one generation of a document.

    `text` is the source's own text and is what search returns. `context` is header, tail of the previous passage and body:
    it is embedded and is the second BM25 field. `parent` is the section a passage lies in, else the root. `indexed` is
    false for sections, and for the root of a short document (its text is its only passages' text).
    """

    id: UUID
    document: UUID
    generation: int
    container: str
    kind: Kind
    ordinal: int
    text: str
    context: str = ""
    parent: UUID | None = None
    location: Location = field(default_factory=Location)
    tokens: int = 0
    indexed: bool = True


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing; `id` by `identity.entity_id`."""

    id: UUID
    container: str
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Memory:
    """A statement extracted from a document. `span` is the literal source text it rests on, `unit` the passage that holds it."""

    id: UUID
    container: str
    kind: Kind
    text: str
    document: UUID
    generation: int
    unit: UUID
    span: str
    confidence: float = 0.8
    tags: tuple[str, ...] = ()
    entities: tuple[Entity, ...] = ()
    event_time: datetime | None = None
    metadata: Metadata = field(default_factory=dict)


def assemble_text(units: Sequence[Unit]) -> str:
    """The extracted text put together again from a generation's passages (units of other kinds are left out).

    The last `char_end - char_start` characters of a passage stand at its place; a repeated table header before them is dropped.
    Between blocks lies an empty line.
    """
    parts: list[str] = []
    at = 0
    for unit in sorted((each for each in units if each.kind is Kind.PASSAGE), key=lambda each: each.ordinal):
        place = unit.location
        own = unit.text[max(0, len(unit.text) - (place.char_end - place.char_start)) :]
        parts.append("\n" * max(0, place.char_start - at) + own)
        at = place.char_end
    return "".join(parts)

"""Rows of the catalogue as immutable values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from eunoe_contracts.content import Metadata, Unit
from eunoe_contracts.stages import DocumentStatus, Stage, StageState
from eunoe_contracts.tenancy import Scope


@dataclass(frozen=True, slots=True)
class NewDocument:
    """What the gateway wants to accept. `fingerprint` is the hash of everything that must be equal under one idempotency key;
    `is_keyed` when the caller gave one, so that a repetition is known to be a retry. `trace` is the `traceparent` of the call.
    `created_at` is of an earlier life of the document, in another catalogue; `unless_erased` says that it is not to come back here.
    """

    id: UUID
    container: str
    content_type: str
    media_type: str
    name: str
    size: int
    sha256: str
    blob: str
    fingerprint: str
    metadata: Metadata = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    custom_id: str = ""
    event_time: datetime | None = None
    source_url: str = ""
    warnings: tuple[str, ...] = ()
    is_keyed: bool = False
    trace: str = ""
    created_at: datetime | None = None
    unless_erased: bool = False


class AcceptAction(StrEnum):
    """What accepting would do: a first generation, a further one, or nothing new."""

    CREATE = "create"
    REACCEPT = "reaccept"
    DEDUPLICATE = "deduplicate"


@dataclass(frozen=True, slots=True)
class AcceptPlan:
    """Read-only answer: the action and the generation the blob belongs to."""

    action: AcceptAction
    generation: int


@dataclass(frozen=True, slots=True)
class StageRow:
    """State of one stage of the current generation."""

    stage: Stage
    state: StageState
    attempts: int = 0
    code: str = ""
    message: str = ""
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document with its ledger. `revision` grows with every change; `sequence` is the order of acceptance.

    `title` is the caller's `metadata.title` until the extractor has stored one (`put_units`). `trace` is that of the call that
    started the generation; all its events carry it, also those made again.
    """

    id: UUID
    tenant: str
    generation: int
    container: str
    content_type: str
    media_type: str
    name: str
    custom_id: str
    size: int
    sha256: str
    blob: str
    metadata: Metadata
    tags: tuple[str, ...]
    event_time: datetime | None
    source_url: str
    warnings: tuple[str, ...]
    status: DocumentStatus
    error_code: str
    error_message: str
    degraded: tuple[str, ...]
    counts: Mapping[str, int]
    revision: int
    sequence: int
    published: bool
    created_at: datetime
    updated_at: datetime
    stages: Mapping[Stage, StageRow] = field(default_factory=dict)
    title: str = ""
    trace: str = ""


@dataclass(frozen=True, slots=True)
class Accepted:
    """Result of an accept. `updated` names the fields that a deduplicated post merged in."""

    document: DocumentRow
    action: AcceptAction
    updated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """The turn of a conversation before another. `passages` are in order; none while it `is_awaited`, that is, not read yet."""

    document: UUID
    position: int
    passages: tuple[Unit, ...]
    is_awaited: bool


@dataclass(frozen=True, slots=True)
class DocumentQuery:
    """Conditions of a list; empty means none. Erased documents are never listed.

    With `after` the list is in order of acceptance and holds what has a higher `sequence`.
    """

    container: str = ""
    status: str = ""
    custom_id: str = ""
    after: int | None = None


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A document without an end, as the sweeper sees it."""

    tenant: str
    document: UUID
    generation: int
    published: bool
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class End:
    """How a generation ended."""

    status: DocumentStatus
    code: str = ""
    message: str = ""
    degraded: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A memory with its state. `epoch` makes the row key: it grows when the sources go from none to one.

    `edited_at` is when a caller last changed it, None when no caller did.
    """

    id: UUID
    container: str
    kind: str
    text: str
    epoch: int
    confidence: float
    tags: tuple[str, ...]
    metadata: Metadata
    is_latest: bool
    superseded_by: UUID | None
    event_time: datetime | None
    created_at: datetime
    updated_at: datetime
    sources: tuple[UUID, ...] = ()
    edited_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RemovedMemory:
    """A memory that a caller removed; nothing of its text is left."""

    id: UUID
    container: str
    kind: str
    removed_at: datetime


@dataclass(frozen=True, slots=True)
class OrphanedMemory:
    """A memory that lost its last source; its projection rows of that epoch must go."""

    id: UUID
    epoch: int


@dataclass(frozen=True, slots=True)
class Edit:
    """A caller's change of a memory, or, by its root, of a document's tags and metadata, that the index has to follow."""

    tenant: str
    container: str
    memory: UUID
    at: datetime
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class ContainerRow:
    """A container; containers exist by having documents."""

    name: str
    memory_count: int
    document_count: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class DeadLetterRow:
    """A record that was given up."""

    id: UUID
    tenant: str
    document: UUID | None
    generation: int
    container: str
    document_name: str
    stage: str
    code: str
    message: str
    attempts: int
    replays: int
    first_failed_at: datetime
    last_failed_at: datetime
    replayed_at: datetime | None
    trace: str
    topic: str


@dataclass(frozen=True, slots=True)
class DeadLetterQuery:
    """Conditions; empty means none."""

    id: UUID | None = None
    code: str = ""
    document: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    include_replayed: bool = False


@dataclass(frozen=True, slots=True)
class Reopened:
    """A stage put back to work by a replay; its input event is to be published again with `salt`."""

    tenant: str
    document: UUID
    generation: int
    stage: Stage
    salt: str


@dataclass(frozen=True, slots=True)
class TokenRow:
    """An API token; only the hash of its secret is stored."""

    id: str
    tenant: str
    name: str
    scopes: frozenset[Scope]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class Erasure:
    """A requested erasure; `completed_at` is the proof that every sink was seen empty."""

    tenant: str
    document: UUID
    generation: int
    requested_at: datetime
    completed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Page:
    """A window of a list."""

    limit: int = 50
    offset: int = 0

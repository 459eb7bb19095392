"""Events and their form on the log: a protobuf body with string headers.

A record that cannot be read raises `MalformedEvent` or `UnknownEventVersion`; both are permanent, so it is dead-lettered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from eunoe.v1 import events_pb2
from google.protobuf.message import DecodeError

from eunoe_contracts import topics, trace
from eunoe_contracts.errors import MalformedEvent, UnknownEventVersion
from eunoe_contracts.identity import event_id

SCHEMA_VERSION = 1

HEADER_EVENT_ID = "eunoe-event-id"
HEADER_VERSION = "eunoe-schema-version"
HEADER_TENANT = "eunoe-tenant"
HEADER_TRACE = trace.HEADER
HEADER_ATTEMPT = "eunoe-attempt"
HEADER_FIRST_FAILED_AT = "eunoe-first-failed-at"
HEADER_NOT_BEFORE = "eunoe-not-before"
HEADER_ORIGIN = "eunoe-origin"
HEADER_CODE = "eunoe-error-code"
HEADER_BYTES = "eunoe-value-bytes"
"""On a dead letter without its value: how large that was."""

Body: TypeAlias = (
    events_pb2.DocumentAccepted
    | events_pb2.DocumentExtracted
    | events_pb2.MemoriesProposed
    | events_pb2.MemoriesEmbedded
    | events_pb2.StageFinished
    | events_pb2.UrlRequested
    | events_pb2.MemoryChanged
    | events_pb2.DocumentErased
)

BODY_TYPES: Mapping[str, type[Body]] = {
    topics.DOCUMENT_ACCEPTED: events_pb2.DocumentAccepted,
    topics.DOCUMENT_EXTRACTED: events_pb2.DocumentExtracted,
    topics.MEMORIES_PROPOSED: events_pb2.MemoriesProposed,
    topics.MEMORIES_EMBEDDED: events_pb2.MemoriesEmbedded,
    topics.STAGE_FINISHED: events_pb2.StageFinished,
    topics.URL_REQUESTED: events_pb2.UrlRequested,
    topics.MEMORY_CHANGED: events_pb2.MemoryChanged,
    topics.DOCUMENT_ERASED: events_pb2.DocumentErased,
}


@dataclass(frozen=True, slots=True)
class Record:
    """What a log stores: opaque value, string headers, and the key that decides partition and order."""

    topic: str
    key: str
    value: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Event:
    """A typed event. Equal causes have equal ids, so publishing twice is harmless."""

    id: UUID
    topic: str
    key: str
    tenant: str
    body: Body
    trace: str = ""

    @property
    def document(self) -> UUID | None:
        """The document it speaks of, if any."""
        text = getattr(self.body, "document_id", "")
        return UUID(text) if text else None

    @property
    def generation(self) -> int:
        """The document's generation; 0 where the event has none."""
        return int(getattr(self.body, "generation", 0))


def document_event(topic: str, body: Body, *, trace: str = "", salt: str = "") -> Event:
    """An event about a document. `salt` tells a replay or a republication from the first time."""
    document = getattr(body, "document_id")  # noqa: B009 - the union has one type without it
    stage = str(getattr(body, "stage", ""))
    key = (
        topics.container_key(body.tenant, body.container)
        if isinstance(body, (events_pb2.MemoriesProposed, events_pb2.MemoriesEmbedded))
        else topics.document_key(body.tenant, document)
    )
    generation = int(getattr(body, "generation", 0))
    return Event(event_id(topic, body.tenant, document, generation, stage, salt), topic, key, body.tenant, body, trace)


def memory_changed_event(
    tenant: str, container: str, memory: UUID, *, at: datetime, deleted: bool = False, trace: str = "", salt: str = ""
) -> Event:
    """Tells every stage that a memory was changed or removed, or, by its root, a whole document. The revision is the time in
    microseconds; `salt` tells an event of the same revision from the caller's.
    """
    revision = int(at.timestamp() * 1_000_000)
    body = events_pb2.MemoryChanged(tenant=tenant, container=container, memory_id=str(memory), revision=revision, deleted=deleted)
    identity = event_id(topics.MEMORY_CHANGED, tenant, str(memory), 0, str(revision), *([salt] if salt else []))
    return Event(identity, topics.MEMORY_CHANGED, topics.container_key(tenant, container), tenant, body, trace)


def encode(event: Event) -> Record:
    """The record of an event."""
    headers = {
        HEADER_EVENT_ID: str(event.id),
        HEADER_VERSION: str(SCHEMA_VERSION),
        HEADER_TENANT: event.tenant,
    }
    if event.trace:
        headers[HEADER_TRACE] = event.trace
    return Record(event.topic, event.key, event.body.SerializeToString(deterministic=True), headers)


def decode(record: Record, *, topic: str | None = None) -> Event:
    """The event in a record; `topic` names the original topic when the record lies on a retry topic."""
    name = topic or record.topic
    version = record.headers.get(HEADER_VERSION, "")
    if not version.isdigit():
        raise MalformedEvent(f"record on {name} has no schema version")
    if int(version) > SCHEMA_VERSION:
        raise UnknownEventVersion(f"record on {name} has schema version {version}, this program knows {SCHEMA_VERSION}")
    body_type = BODY_TYPES.get(name)
    if body_type is None:
        raise MalformedEvent(f"no event type for topic {name}")
    body = body_type()
    try:
        body.ParseFromString(record.value)
        identity = UUID(record.headers.get(HEADER_EVENT_ID, ""))
        if text := getattr(body, "document_id", ""):
            UUID(text)
    except (DecodeError, ValueError) as error:
        raise MalformedEvent(f"record on {name} is not a valid event") from error
    tenant = record.headers.get(HEADER_TENANT, "")
    if not tenant or tenant != body.tenant:
        raise MalformedEvent(f"record on {name} names no tenant, or two")
    return Event(identity, name, record.key, tenant, body, record.headers.get(HEADER_TRACE, ""))

"""The event of an edited memory."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.events import Event
from eunoe_contracts.identity import event_id

from eunoe_gateway import tracing


def changed_event(tenant: str, container: str, memory: UUID, *, at: datetime, deleted: bool = False) -> Event:
    """Tells every stage that a caller changed or removed a memory. The revision is the time in microseconds; the trace is the call's."""
    revision = int(at.timestamp() * 1_000_000)
    body = events_pb2.MemoryChanged(tenant=tenant, container=container, memory_id=str(memory), revision=revision, deleted=deleted)
    identity = event_id(topics.MEMORY_CHANGED, tenant, str(memory), 0, str(revision))
    return Event(identity, topics.MEMORY_CHANGED, topics.container_key(tenant, container), tenant, body, tracing.current())

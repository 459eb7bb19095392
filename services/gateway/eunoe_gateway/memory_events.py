"""The event of an edited memory."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from eunoe_contracts.events import Event, memory_changed_event

from eunoe_gateway import tracing


def changed_event(tenant: str, container: str, memory: UUID, *, at: datetime, deleted: bool = False) -> Event:
    """Tells every stage that a caller changed or removed a memory. The trace is the call's."""
    return memory_changed_event(tenant, container, memory, at=at, deleted=deleted, trace=tracing.current())

"""The gateway's handlers: pure functions of an event and the stores. Calls of the doors are in the modules by noun."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from eunoe_contracts.errors import MalformedEvent
from eunoe_contracts.events import Event

from eunoe_gateway.documents.ends import Ended, settle
from eunoe_gateway.documents.sinks import Sinks, remove_contents


async def finish_document(event: Event, *, sinks: Sinks, now: datetime, with_vectors: bool, on_end: Ended) -> Sequence[Event]:
    """A stage wrote its ledger row: end the document if that was the last one. Raises `ReadBackFailed`, to be tried again."""
    if event.document is None:
        raise MalformedEvent("stage.finished names no document")
    return await settle(event.tenant, event.document, event.generation, sinks=sinks, now=now, with_vectors=with_vectors, on_end=on_end)


async def remove_erased(event: Event, *, sinks: Sinks) -> Sequence[Event]:
    """A document was erased: remove its contents, whatever the other stages do. The rest and the proof are the sweeper's."""
    if event.document is None:
        raise MalformedEvent("document.erased names no document")
    await remove_contents(event.tenant, event.document, through_generation=event.generation, sinks=sinks)
    return []

"""The event of a caller's edit, which tells the index to follow the catalogue."""

from __future__ import annotations

from functools import partial

from eunoe_contracts.events import Event, memory_changed_event
from eunoe_stores.catalogue.port import EditCatalogue
from eunoe_stores.catalogue.rows import Edit

from eunoe_gateway import tracing
from eunoe_gateway.publishing import Publisher


def edit_event(edit: Edit) -> Event:
    """The same event whenever it is made. The trace is the call's."""
    return memory_changed_event(edit.tenant, edit.container, edit.memory, at=edit.at, deleted=edit.deleted, trace=tracing.current())


async def publish_edit(edit: Edit, *, publisher: Publisher, catalogue: EditCatalogue) -> None:
    """Publish it and forget it; what does not come to that is left to the sweeper. Never raises."""
    await publisher.publish([edit_event(edit)], then=partial(catalogue.edit_published, edit))

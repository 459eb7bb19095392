"""Tells those in this process who watch a document that it changed, so that they need not wait for the next poll."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID


class Changes:
    """Watched documents of one process. Use it from one event loop only."""

    def __init__(self) -> None:
        self._events: dict[tuple[str, UUID], set[asyncio.Event]] = {}

    def tell(self, tenant: str, document: UUID) -> None:
        """The document has changed, committed."""
        for event in self._events.get((tenant, document), ()):
            event.set()

    @contextmanager
    def watching(self, tenant: str, document: UUID) -> Iterator[asyncio.Event]:
        """An event that is set with every change while the context is open."""
        key = (tenant, document)
        event = asyncio.Event()
        self._events.setdefault(key, set()).add(event)
        try:
            yield event
        finally:
            self._events[key].discard(event)
            if not self._events[key]:
                del self._events[key]

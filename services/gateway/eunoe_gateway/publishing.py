"""Publishing beside a call: the caller waits a moment, the publication goes on without it, the sweeper is the outbox."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from eunoe_contracts.events import Event, encode
from eunoe_stream.log import Log
from eunoe_stream.runner.outbox import Outbox

logger = logging.getLogger(__name__)


class Publisher:
    """Publishes events of accepting and editing calls."""

    def __init__(self, log: Log, *, wait_s: float) -> None:
        self._outbox = Outbox(log)
        self._wait_s = wait_s
        self._running: set[asyncio.Task[None]] = set()

    async def publish(self, events: Sequence[Event], *, then: Callable[[], Awaitable[None]] | None = None) -> None:
        """Publish, then await `then`. Returns when that is done, at the latest after the configured wait; never raises.

        What fails here is not lost: whoever needs the event is served by the sweeper, which reads the catalogue.
        """
        task = asyncio.create_task(self._run(events, then))
        self._running.add(task)
        task.add_done_callback(self._ended)
        await asyncio.wait({task}, timeout=self._wait_s)

    async def _run(self, events: Sequence[Event], then: Callable[[], Awaitable[None]] | None) -> None:
        await self._outbox.publish([encode(each) for each in events])
        if then is not None:
            await then()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.warning("event not published, left to the sweeper: %s", type(error).__name__)

    async def drain(self) -> None:
        """Return when nothing is being published any more. May be called twice."""
        while self._running:
            await asyncio.wait(self._running)

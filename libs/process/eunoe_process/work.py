"""Handlers and background tasks at work, drained on leaving: the same in one process and in many."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from eunoe_stream.runner import Runner
from eunoe_stream.subscription import Background, Service


@asynccontextmanager
async def at_work(
    runner: Runner | None,
    services: Sequence[Service],
    *,
    finish: Callable[[], Awaitable[None]],
    drain_s: float,
    beside: Sequence[Background] = (),
) -> AsyncIterator[None]:
    """The runner and the background tasks, while the context lives. On leaving: the tasks are cancelled, `finish` is awaited (nothing
    is published after it), and handlers in flight get `drain_s` seconds. Raises `StoreUnavailable` when the log cannot be reached.
    """
    if runner is not None:
        await runner.start()
    backgrounds = [*(each for service in services for each in service.background), *beside]
    tasks = [asyncio.create_task(each.run(), name=each.name) for each in backgrounds]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await finish()
        if runner is not None:
            await runner.drain(drain_s)

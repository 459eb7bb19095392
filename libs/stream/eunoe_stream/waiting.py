"""Waiting for an event or for time, whichever comes first, on the clock of the port."""

from __future__ import annotations

import asyncio

from eunoe_contracts.clock import Clock


async def wait_for(event: asyncio.Event, clock: Clock, seconds: float) -> bool:
    """Return when the event is set or the seconds have passed on `clock`; true when the event is set."""
    if event.is_set() or seconds <= 0:
        return event.is_set()
    waits = (asyncio.ensure_future(event.wait()), asyncio.ensure_future(clock.sleep(seconds)))
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waits:
            each.cancel()
    return event.is_set()

"""Time and ids under control of a test. For users of eunoe too."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 1, tzinfo=UTC)


class ManualClock:
    """`Clock` that stands still until `advance`. Not for several threads."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._monotonic = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    def now(self) -> datetime:
        """Current time, aware, UTC."""
        return self._now

    def monotonic(self) -> float:
        """Seconds advanced so far; `jump` does not change it."""
        return self._monotonic

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was advanced that far."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._monotonic + seconds, next(self._numbers), future))
        await future

    def advance(self, seconds: float) -> None:
        """Move both times on and wake the sleepers that are due; they run when the caller next awaits."""
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds
        while self._sleepers and self._sleepers[0][0] <= self._monotonic:
            _, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                future.set_result(None)

    def jump(self, seconds: float) -> None:
        """Set the wall clock that far forward or back, as an operator or NTP may; the monotonic time stays."""
        self._now += timedelta(seconds=seconds)


class SequentialIds:
    """`Ids` that count from 1."""

    def __init__(self) -> None:
        self._next = itertools.count(1)

    def new(self) -> str:
        """32 hex digits."""
        return f"{next(self._next):032x}"


async def eventually(
    condition: Callable[[], bool] | Callable[[], Awaitable[bool]],
    *,
    timeout_s: float = 10.0,
    meanwhile: Callable[[], None] | None = None,
) -> None:
    """Wait in real time until the condition holds; raise `AssertionError` after `timeout_s`.

    `meanwhile` runs between two looks, for example to advance a `ManualClock`.
    """
    give_up = time.monotonic() + timeout_s
    while True:
        held = condition()
        if held is True or (not isinstance(held, bool) and await held):
            return
        if time.monotonic() > give_up:
            raise AssertionError(f"did not hold within {timeout_s} s")
        if meanwhile is not None:
            meanwhile()
        await asyncio.sleep(0.002)

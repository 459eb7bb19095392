"""Ends a process that stands still, so that whoever started it starts it again: nothing else would."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from eunoe_contracts.clock import Clock
from eunoe_contracts.errors import as_eunoe_error
from eunoe_stream.runner import GroupHealth

from eunoe_process.exit_codes import ExitCode
from eunoe_process.stopping import Stop
from eunoe_process.stores import Ask

LOOK_EVERY_S = 10.0
BEAT_S = 1.0
logger = logging.getLogger(__name__)


def standstill(groups: Mapping[str, GroupHealth], limit_s: float) -> str:
    """The group that has work before it, moves nothing, and cannot say why; empty when there is none.

    A group that is paused, or that repeats something because a store is away, knows why: starting again would not help.
    """
    for name, health in sorted(groups.items()):
        if health.lag and not health.paused and not health.reason and health.last_progress_age_s > limit_s:
            return name
    return ""


@dataclass(frozen=True, slots=True)
class ProgressWatchdog:
    """Looks at the groups of the runner, and asks the stores whether their clients are of any use."""

    health: Callable[[], Mapping[str, GroupHealth]]
    stop: Stop
    clock: Clock
    limit_s: float
    asks: tuple[Ask, ...] = ()

    async def run(self) -> None:
        """Look until there is a standstill, then ask for the stop. With a limit of 0 only the stores are asked."""
        while True:
            await self.clock.sleep(LOOK_EVERY_S)
            reason = await self._reason()
            if reason:
                logger.error("%s: the process ends", reason)
                self.stop.request(ExitCode.WATCHDOG)
                return

    async def _reason(self) -> str:
        group = standstill(self.health(), self.limit_s) if self.limit_s else ""
        if group:
            return f"{group} has records before it, moved none for {self.limit_s:g} s and nobody knows why"
        for ask in self.asks:
            try:
                reason = await ask()
            except Exception as error:  # noqa: BLE001 - a question that fails is no reason to end
                logger.warning("watchdog: %s", as_eunoe_error(error).code)
                continue
            if reason:
                return reason
        return ""


class LoopWatchdog:
    """A thread that ends the process when the event loop does not turn any more: nothing inside the loop could."""

    def __init__(self, limit_s: float, *, end: Callable[[int], None] = os._exit) -> None:
        self._limit_s = limit_s
        self._end = end
        self._beat_at = time.monotonic()
        self._done = threading.Event()

    async def run(self) -> None:
        """Beat until cancelled, with a thread that listens."""
        if not self._limit_s:
            return
        self._beat_at = time.monotonic()
        thread = threading.Thread(target=self._listen, name="loop watchdog", daemon=True)
        thread.start()
        try:
            while True:
                self._beat_at = time.monotonic()
                await asyncio.sleep(min(BEAT_S, self._limit_s / 4))
        finally:
            self._done.set()

    def _listen(self) -> None:
        while not self._done.wait(min(BEAT_S, self._limit_s / 4)):
            if time.monotonic() - self._beat_at > self._limit_s:
                logger.error("the event loop stands still for more than %g s: the process ends", self._limit_s)
                self._end(ExitCode.WATCHDOG)
                return

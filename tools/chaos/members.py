"""Keeps three member processes alive, and ends them as told."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from chaos.plan import MEMBERS, Form

TOOLS = Path(__file__).resolve().parent.parent
RESTART_S = 1.0
READY_S = 60.0
LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class Stopped:
    """How a member took SIGTERM."""

    seconds: float
    code: int


class Slot:
    """One member and those that take its place."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.process: asyncio.subprocess.Process | None = None
        self.told_at = 0.0
        self.killed = False
        self.away_s = RESTART_S


class Members:
    """What ended by itself is started again after a second, as any supervisor does."""

    def __init__(self, form: Form, folder: Path, environment: Mapping[str, str]) -> None:
        self._form = form
        self._folder = folder
        self._environment = {**os.environ, **environment, "PYTHONPATH": str(TOOLS)}
        self.slots = [Slot(number) for number in range(MEMBERS)]
        self.stops: list[Stopped] = []
        self.by_themselves: list[int] = []
        self.kills = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._ending = False

    def start(self) -> None:
        """All of them."""
        self._tasks = [asyncio.create_task(self._keep(each)) for each in self.slots]

    def is_ready(self, slot: Slot) -> bool:
        """It has joined its group."""
        process = slot.process
        return process is not None and process.returncode is None and (self._folder / f"ready-{process.pid}").exists()

    async def all_ready(self) -> bool:
        """Wait for that; false after a minute."""
        give_up = time.monotonic() + READY_S
        while not all(map(self.is_ready, self.slots)):
            if time.monotonic() > give_up:
                return False
            await asyncio.sleep(LOOK_S)
        return True

    def kill(self, slot: Slot, *, away_s: float) -> None:
        """SIGKILL."""
        if slot.process is not None and slot.process.returncode is None:
            self.kills += 1
            slot.killed, slot.away_s = True, away_s
            slot.process.kill()

    def terminate(self, slot: Slot, *, away_s: float) -> None:
        """SIGTERM; one that does not end within its limit is killed, and the judge is told."""
        if self.is_ready(slot) and slot.process is not None and not slot.told_at:
            slot.told_at, slot.away_s = time.monotonic(), away_s
            slot.process.terminate()

    async def end(self) -> None:
        """All of them, by SIGTERM."""
        self._ending = True
        for each in self.slots:
            self.terminate(each, away_s=0)
        await asyncio.wait(self._tasks, timeout=self._form.stop_limit_s * 2)
        await self.abandon()

    async def abandon(self) -> None:
        """At once. May be called twice."""
        self._ending = True
        for each in self._tasks:
            each.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _keep(self, slot: Slot) -> None:
        while not self._ending:
            slot.told_at, slot.killed, slot.away_s = 0.0, False, RESTART_S
            await self._live(slot)
            if not self._ending:
                await asyncio.sleep(slot.away_s)

    async def _live(self, slot: Slot) -> None:
        form = self._form
        arguments = [str(self._folder), str(form.lease_s), str(form.drain_s), *(["broken"] if form.broken else [])]
        with (self._folder / f"member-{slot.number}.log").open("ab") as log:
            slot.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "chaos.member", *arguments, env=self._environment, stdout=log, stderr=log
            )
        try:
            await self._ended(slot, slot.process)
        finally:
            if slot.process.returncode is None:
                slot.process.kill()
                await slot.process.wait()

    async def _ended(self, slot: Slot, process: asyncio.subprocess.Process) -> None:
        waiting = asyncio.ensure_future(process.wait())
        while not waiting.done():
            await asyncio.wait({waiting}, timeout=LOOK_S)
            if slot.told_at and time.monotonic() - slot.told_at > self._form.stop_limit_s and not waiting.done():
                process.kill()
        code = waiting.result()
        if slot.told_at and not slot.killed:
            self.stops.append(Stopped(time.monotonic() - slot.told_at, code))
        elif not slot.killed:
            self.by_themselves.append(code)

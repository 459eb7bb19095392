"""Kills members and the broker."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable

from servers.server import Server

from chaos.members import Members
from chaos.plan import KILLED_OUTRIGHT, Form


class Trouble:
    """Until `until`, on the monotonic clock."""

    def __init__(self, form: Form, members: Members, broker: Server, *, until: float, tell: Callable[[str], None]) -> None:
        self._form = form
        self._members = members
        self._broker = broker
        self._until = until
        self._tell = tell
        self._random = random.Random(form.seed)  # noqa: S311 - to be repeated, not to be secret
        self.terms = 0
        self.broker_strikes: list[str] = []

    async def strike_members(self) -> None:
        """One at a time."""
        while await self._rest(self._random.uniform(*self._form.kill_every_s)):
            slot = self._random.choice(self._members.slots)
            away_s = self._random.uniform(*self._form.member_away_s)
            if self._random.random() < KILLED_OUTRIGHT:
                self._tell(f"member {slot.number}: SIGKILL, back after {away_s:.1f} s")
                self._members.kill(slot, away_s=away_s)
            elif self._members.is_ready(slot):
                self._tell(f"member {slot.number}: SIGTERM, back after {away_s:.1f} s")
                self.terms += 1
                self._members.terminate(slot, away_s=away_s)

    async def strike_broker(self) -> None:
        """By turns SIGKILL and SIGTERM, spread over the time."""
        every = self._form.seconds / (self._form.broker_strikes + 0.5)
        first = self._until - self._form.seconds + every / 2
        for number in range(self._form.broker_strikes):
            # At fixed times, or as soon as it is back from the last one.
            if not await self._rest(max(0.0, first + number * every - time.monotonic())):
                return
            how = "SIGTERM" if number % 2 else "SIGKILL"
            away_s = self._random.uniform(*self._form.broker_away_s)
            began = time.monotonic()
            await asyncio.to_thread(self._broker.stop if number % 2 else self._broker.kill)
            await asyncio.sleep(away_s)
            await asyncio.to_thread(self._broker.start)
            self.broker_strikes.append(how)
            self._tell(f"broker: {how}, was away for {time.monotonic() - began:.1f} s")

    async def _rest(self, seconds: float) -> bool:
        """False when the time is over before that."""
        rest = self._until - time.monotonic()
        await asyncio.sleep(max(0.0, min(seconds, rest)))
        return seconds < rest

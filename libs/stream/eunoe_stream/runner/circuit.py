"""Pauses a stage that fails for every document, instead of pouring its backlog into the dead letters."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from eunoe_contracts.clock import Clock

WINDOW_S = 60.0
MINIMUM = 20
NEWEST = 200
RATIO = 0.5
FIRST_PROBE_S = 5.0
LONGEST_PROBE_S = 300.0


class Circuit:
    """Closed, it lets everything pass. It opens when more than half of at least 20 outcomes within a minute were permanent
    failures of different documents that their content does not explain. Open, it lets one probe pass at a time, after 5 s,
    then twice that up to 300 s; a probe that succeeds closes it.
    """

    def __init__(self, clock: Clock, *, on_change: Callable[[bool], None]) -> None:
        self._clock = clock
        self._on_change = on_change
        self._outcomes: deque[tuple[float, str, bool]] = deque(maxlen=NEWEST)
        self._waiting: deque[asyncio.Future[bool]] = deque()
        self._interval = FIRST_PROBE_S
        self._probe_due = False
        self._timer: asyncio.Task[None] | None = None
        self._abandoned = False
        self.reason = ""

    @property
    def paused(self) -> bool:
        """True while it is open."""
        return bool(self.reason)

    async def admit(self) -> bool:
        """Wait until a record may run; true when it runs as the probe. Raises `CancelledError` after `abandon`."""
        if not self.paused:
            return False
        if self._abandoned:
            raise asyncio.CancelledError
        if self._probe_due:
            self._probe_due = False
            return True
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            return await future
        except asyncio.CancelledError:
            # The turn was given but never used: pass it on, or no probe would ever run again.
            if future.done() and not future.cancelled() and future.result():
                self.probe_ended()
            raise

    def succeeded(self, document: str, *, probe: bool) -> None:
        """The stage did its work for the document."""
        self._note(document, failed=False)
        if probe:
            self._close()

    def neutral(self, document: str, *, probe: bool) -> None:
        """The record ended without telling anything about the stage, for example because of its content."""
        self._note(document, failed=False)
        if probe and self.paused:
            self._probe_after(0.0)

    def failed(self, document: str, code: str, *, probe: bool) -> bool:
        """The record failed for good. True: the stage is paused, keep the record and ask `admit` again."""
        self._note(document, failed=True)
        if probe:
            self.probe_failed()
        elif not self.paused and self._is_too_bad():
            self.reason = code
            self._interval = FIRST_PROBE_S
            self._on_change(self.paused)
            self._probe_after(self._interval)
        return self.paused

    def probe_failed(self) -> None:
        """The probe did not succeed; the next one waits twice as long."""
        self._interval = min(self._interval * 2, LONGEST_PROBE_S)
        self._probe_after(self._interval)

    def probe_ended(self) -> None:
        """The probe was stopped from outside; another one may run at once."""
        if self.paused:
            self._probe_after(0.0)

    def abandon(self) -> None:
        """Stop: cancel everybody who waits. May be called twice."""
        self._abandoned = True
        if self._timer is not None:
            self._timer.cancel()
        while self._waiting:
            self._waiting.popleft().cancel()

    def _note(self, document: str, *, failed: bool) -> None:
        self._outcomes.append((self._clock.monotonic(), document, failed))

    def _is_too_bad(self) -> bool:
        since = self._clock.monotonic() - WINDOW_S
        recent = [each for each in self._outcomes if each[0] >= since]
        documents = {document for _, document, failed in recent if failed}
        return len(recent) >= MINIMUM and len(documents) > RATIO * len(recent)

    def _close(self) -> None:
        if not self.paused:
            return
        self.reason = ""
        self._outcomes.clear()
        self._probe_due = False
        self._on_change(self.paused)
        if self._timer is not None:
            self._timer.cancel()
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(False)

    def _probe_after(self, seconds: float) -> None:
        if self._abandoned:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.create_task(self._probe(seconds), name="circuit-probe")

    async def _probe(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(True)
                return
        self._probe_due = True

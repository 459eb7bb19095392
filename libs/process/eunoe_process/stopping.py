"""How a process is told to end, and how it makes sure that it does."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading

from eunoe_process.exit_codes import ExitCode

logger = logging.getLogger(__name__)


class Stop:
    """Asked for once; the first reason counts. Use it from one event loop."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self.code = ExitCode.OK

    def request(self, code: ExitCode = ExitCode.OK) -> None:
        """End, with this exit code. May be called twice."""
        if not self._asked.is_set():
            self.code = code
            self._asked.set()

    @property
    def asked(self) -> bool:
        """Whether somebody did."""
        return self._asked.is_set()

    async def wait(self) -> None:
        """Return when somebody asks."""
        await self._asked.wait()


def stop_on_signals(stop: Stop) -> None:
    """SIGINT and SIGTERM ask for the stop; a second one ends the process at once."""
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        if stop.asked:
            os._exit(ExitCode.FAILED)
        stop.request()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)


def end_by_force(after_s: float, code: ExitCode) -> threading.Timer:
    """End the process after that time, whatever hangs; what was not committed is done again elsewhere. Cancel it to take it back."""

    def end() -> None:
        logger.error("the stop took longer than %g s: ended by force", after_s)
        os._exit(code or ExitCode.FAILED)

    timer = threading.Timer(after_s, end)
    timer.daemon = True
    timer.start()
    return timer

"""Calls to log and ledger that must not fail: tried again in place until they succeed or the task is cancelled."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable, Callable
from typing import TypeVar

from eunoe_contracts.clock import Clock
from eunoe_contracts.errors import EunoeError, PayloadTooLarge, as_eunoe_error

from eunoe_stream.runner.health import Progress

T = TypeVar("T")
logger = logging.getLogger(__name__)
FIRST_S = 0.1
LONGEST_S = 5.0


def where(error: BaseException) -> str:
    """For the log: where an unexpected error was raised. Frames only, since its message may carry content."""
    if isinstance(error, EunoeError):
        return ""
    return f"\n{type(error).__name__} at\n{''.join(traceback.format_tb(error.__traceback__))}"


async def insist(call: Callable[[], Awaitable[T]], *, clock: Clock, progress: Progress, doing: str) -> T:
    """The result of `call`. Waits 0.1 s after a failure, then twice that, up to 5 s; the health shows the error meanwhile.

    The offset stays open during that time, so nothing is lost when the process ends. Raises `PayloadTooLarge` at once: that record
    no repetition makes smaller.
    """
    delay = FIRST_S
    while True:
        try:
            result = await call()
        except PayloadTooLarge:
            progress.went_on(doing)
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, giving up would lose the record
            failure = as_eunoe_error(error)
            if progress.hindered(doing, failure.code):
                logger.warning("%s failed (%s), again in %.1f s%s", doing, failure.message, delay, where(error))
            await clock.sleep(delay)
            delay = min(delay * 2, LONGEST_S)
        else:
            progress.went_on(doing)
            return result

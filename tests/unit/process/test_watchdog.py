from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping

import pytest
from eunoe_contracts.errors import StoreUnavailable
from eunoe_process.exit_codes import ExitCode
from eunoe_process.stopping import Stop
from eunoe_process.stores import Ask
from eunoe_process.watchdog import LoopWatchdog, ProgressWatchdog, standstill
from eunoe_stream.runner import GroupHealth
from eunoe_telemetry.testing import ManualClock, eventually


def group(*, paused: bool = False, lag: int = 5, age: float = 400.0, reason: str = "") -> Mapping[str, GroupHealth]:
    return {"embedder": GroupHealth(paused=paused, lag=lag, in_flight=0, last_progress_age_s=age, reason=reason)}


@pytest.mark.parametrize(
    ("health", "found"),
    [
        (group(), "embedder"),
        (group(paused=True), ""),
        (group(lag=0), ""),
        (group(age=10), ""),
        (group(reason="store_unavailable"), ""),
    ],
)
def test_a_standstill_is_work_that_nobody_moves_for_no_known_reason(health: Mapping[str, GroupHealth], found: str) -> None:
    assert standstill(health, 300) == found


async def watched(health: Mapping[str, GroupHealth], limit_s: float, *asks: Ask) -> Stop:
    """The stop after the watchdog had a minute to look."""
    clock, stop = ManualClock(), Stop()
    task = asyncio.create_task(ProgressWatchdog(lambda: health, stop, clock, limit_s, asks).run())
    for _ in range(30):
        await asyncio.sleep(0)
        clock.advance(2)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return stop


async def test_it_ends_the_process_with_its_own_code() -> None:
    stop = await watched(group(), 300)
    assert (stop.asked, stop.code) == (True, ExitCode.WATCHDOG)
    assert not (await watched(group(), 0)).asked
    assert not (await watched(group(age=3), 300)).asked


async def test_a_store_that_says_it_is_broken_ends_it_too() -> None:
    async def well() -> str:
        return ""

    async def away() -> str:
        raise StoreUnavailable

    async def broken() -> str:
        return "embedder: the loop that reads has ended"

    assert not (await watched({}, 300, well, away)).asked
    assert (await watched({}, 300, away, broken)).code is ExitCode.WATCHDOG


async def test_an_event_loop_that_stands_still_is_ended_from_outside() -> None:
    ended: list[int] = []
    told = threading.Event()

    def end(code: int) -> None:
        ended.append(code)
        told.set()

    task = asyncio.create_task(LoopWatchdog(0.2, end=end).run())
    for _ in range(20):
        await asyncio.sleep(0.01)
    assert ended == []
    until = time.monotonic() + 5
    while not told.wait(0.01) and time.monotonic() < until:  # the loop is blocked here, on purpose
        pass
    assert ended == [ExitCode.WATCHDOG]
    task.cancel()
    await eventually(task.done)

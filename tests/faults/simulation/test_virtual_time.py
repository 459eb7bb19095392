"""Virtual time moves whenever somebody waits, however short."""

from __future__ import annotations

import asyncio

import pytest
from eunoe_telemetry.virtual_time import StandsStill, VirtualClock, run_virtually

FAR_S = 1e6
SHORT_S = 1e-5
SHORTER_THAN_ITS_PRECISION_S = 1e-15


@pytest.mark.timeout(10)
def test_a_wait_that_is_shorter_than_the_precision_of_the_time_moves_it() -> None:
    async def work() -> float:
        clock = VirtualClock()
        await clock.sleep(FAR_S)
        started = clock.monotonic()
        await clock.sleep(SHORTER_THAN_ITS_PRECISION_S)
        return clock.monotonic() - started

    assert 0 < run_virtually(work()) < SHORT_S


@pytest.mark.timeout(10)
def test_who_waits_for_the_rest_of_a_deadline_gets_there() -> None:
    async def work() -> None:
        clock = VirtualClock()
        await clock.sleep(FAR_S)
        deadline, looks = clock.monotonic() + SHORT_S, 0
        while (rest := deadline - clock.monotonic()) > 0:
            # A new task each time, as in a consumer: while something is to be done the loop looks for timers without moving on.
            looks += 1
            waiting = asyncio.create_task(asyncio.Event().wait())
            await asyncio.wait([waiting], timeout=min(rest, SHORTER_THAN_ITS_PRECISION_S))
            waiting.cancel()
        assert looks < 100

    run_virtually(work())


def test_time_does_not_move_when_nobody_waits() -> None:
    async def work() -> float:
        await asyncio.sleep(0)
        return asyncio.get_running_loop().time()

    assert run_virtually(work()) == 0.0


def test_what_never_comes_is_told() -> None:
    async def work() -> None:
        await asyncio.Event().wait()

    with pytest.raises(StandsStill):
        run_virtually(work())

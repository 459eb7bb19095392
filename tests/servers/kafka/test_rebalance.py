"""Members come, go and die while handlers run: nothing is lost, and what was finished in time is not begun again."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from eunoe_telemetry.testing import eventually

pytestmark = pytest.mark.servers

EVENTUALLY_S = 20.0
COUNT = 24


async def lag(log: Any, bench: Any) -> int:
    return int(await log.lag(bench.topic, bench.group))


async def test_a_member_that_joins_waits_for_running_handlers_and_nothing_runs_twice(bench: Any) -> None:
    first, second = await bench.open(), await bench.open()
    gate = bench.hold(0)
    await first.publish([bench.record(n) for n in range(COUNT)])
    await bench.run(first)
    await eventually(lambda: len(bench.handled) == COUNT - 1, timeout_s=EVENTUALLY_S)
    joining = asyncio.create_task(bench.run(second))
    await eventually(lambda: any(not each.owned for each in first.members()), timeout_s=EVENTUALLY_S)
    assert not joining.done(), "the group waits for the handler"
    gate.set()
    await joining
    members = [*first.members(), *second.members()]
    await eventually(lambda: [len(each.owned) for each in members] == [4, 4], timeout_s=EVENTUALLY_S)
    await first.publish([bench.record(n) for n in range(COUNT, 2 * COUNT)])
    await eventually(lambda: len(bench.handled) == 2 * COUNT, timeout_s=EVENTUALLY_S)
    assert max(Counter(bench.started).values()) == 1


async def test_a_member_that_leaves_hands_its_partitions_on(bench: Any) -> None:
    first, second = await bench.open(), await bench.open()
    await bench.run(first)
    leaving = await bench.run(second)
    await first.publish([bench.record(n) for n in range(COUNT)])
    await eventually(lambda: len(bench.handled) >= COUNT // 2, timeout_s=EVENTUALLY_S)
    await leaving.drain(5)
    await first.publish([bench.record(n) for n in range(COUNT, 2 * COUNT)])
    await eventually(lambda: set(bench.handled) == {bench.document(n) for n in range(2 * COUNT)}, timeout_s=EVENTUALLY_S)
    assert max(Counter(bench.started).values()) == 1, "a clean stop repeats nothing"


async def test_a_member_that_is_killed_in_a_handler_loses_nothing(bench: Any) -> None:
    log = await bench.open()
    await log.publish([bench.record(n) for n in range(COUNT)])
    member = await asyncio.create_subprocess_exec(
        sys.executable, str(Path(__file__).with_name("doomed_member.py")), bench.address, bench.prefix, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert member.stdout is not None
        async with asyncio.timeout(EVENTUALLY_S):
            assert await member.stdout.readline() == b"handling\n"
    finally:
        os.kill(member.pid, signal.SIGKILL)
        await member.wait()
    await bench.run(log)
    await eventually(lambda: set(bench.handled) == {bench.document(n) for n in range(COUNT)}, timeout_s=EVENTUALLY_S)

    async def nothing_left() -> bool:
        return await lag(log, bench) == 0

    await eventually(nothing_left, timeout_s=EVENTUALLY_S)


async def test_a_handler_longer_than_the_poll_interval_runs_once(bench: Any) -> None:
    log = await bench.open()
    gate = bench.hold(0)
    await log.publish([bench.record(0)])
    await bench.run(log)
    await eventually(lambda: len(bench.started) == 1, timeout_s=EVENTUALLY_S)
    [member] = log.members()
    client = log.client_of(member)
    # Settings would refuse one so short, since nothing is polled while partitions move.
    client._coordinator._max_poll_interval = 0.5
    generation = client._coordinator.generation
    # Longer than the interval: the loop keeps polling while the handler runs.
    await member.fetch(1, 1.5)
    gate.set()
    await eventually(lambda: len(bench.handled) == 1, timeout_s=EVENTUALLY_S)
    assert client._coordinator.generation == generation
    assert len(bench.started) == 1

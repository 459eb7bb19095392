"""Work longer than the time between rebalances: it finishes, and no part of it is computed more than twice.

The two ways of the product, in short times: an event for each part, and one handler that looks which parts are there (the embedder's).
A real item takes 40 minutes in parts of 20 s, with a rebalance every 30 s.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.events import Event, document_event, encode
from eunoe_contracts.stages import Stage
from eunoe_stream.runner import Runner, consuming
from eunoe_stream.subscription import Subscription
from eunoe_telemetry.clock import RandomIds, SystemClock
from eunoe_telemetry.metrics import Metrics
from eunoe_telemetry.testing import eventually

pytestmark = [pytest.mark.servers, pytest.mark.timeout(120)]

PART_S = 0.1
PARTS = 40
BETWEEN = 3
"""Parts from one rebalance to the next."""
DRAIN_S = 0.5
"""As in the product, more than a part."""
EVENTUALLY_S = 60.0


class LongWork:
    """An item in parts; what is computed is there for all members."""

    def __init__(self, document: str) -> None:
        self.document = document
        self.begun: Counter[int] = Counter()
        self.there: set[int] = set()

    async def part(self, number: int) -> None:
        if number not in self.there:
            self.begun[number] += 1
            await SystemClock().sleep(PART_S)
            self.there.add(number)

    @property
    def is_at_work(self) -> bool:
        return any(number not in self.there for number in self.begun)

    def event(self, number: int) -> Event:
        body = events_pb2.DocumentAccepted(tenant="t", document_id=self.document, generation=1)
        return document_event(topics.DOCUMENT_ACCEPTED, body, salt=f"part-{number}", trace=f"part-{number}")

    async def one_part(self, event: Event) -> Sequence[Event]:
        number = int(event.trace.rpartition("-")[2])
        await self.part(number)
        return [self.event(number + 1)] if number + 1 < PARTS else []

    async def all_parts(self, event: Event) -> Sequence[Event]:
        for number in range(PARTS):
            await self.part(number)
        return []


Handler = Callable[[Event], Awaitable[Sequence[Event]]]


@pytest.mark.parametrize("by_events", [True, False])
async def test_it_finishes_though_members_come_and_go_in_its_midst(bench: Any, monkeypatch: pytest.MonkeyPatch, by_events: bool) -> None:
    monkeypatch.setattr(consuming, "REVOKE_S", DRAIN_S)
    work = LongWork(str(bench.document("long")))
    handler: Handler = work.one_part if by_events else work.all_parts
    log = await bench.open()

    async def started() -> Runner:
        runner = Runner(
            log,
            [Subscription(bench.topic, bench.group, handler, stage=None if by_events else Stage.EXTRACT)],
            ledger=bench.ledger,
            clock=SystemClock(),
            ids=RandomIds(),
            metrics=Metrics(),
            instance=RandomIds().new(),
            retry_delays=[bench.tier],
        )
        bench.runners.append(runner)
        await runner.start()
        return runner

    running = [await started(), await started()]
    await log.publish([encode(work.event(0))])
    rebalances = 0
    while len(work.there) < PARTS:
        goal = min(len(work.there) + BETWEEN, PARTS)
        await eventually(lambda goal=goal: len(work.there) >= goal and (work.is_at_work or goal == PARTS), timeout_s=EVENTUALLY_S)
        # The one that works goes in the midst of a part, and another one comes: all partitions move, twice.
        leaving = max(running, key=lambda each: each.health()[bench.group].in_flight)
        running.remove(leaving)
        coming = asyncio.ensure_future(started())
        await asyncio.gather(leaving.stop(), coming)
        running.append(coming.result())
        rebalances += 1
    assert sorted(work.begun) == list(range(PARTS))
    assert max(work.begun.values()) <= 2, work.begun.most_common(3)
    assert sum(work.begun.values()) > PARTS, "no part was ever interrupted, so nothing was shown"
    assert rebalances >= 3

    async def nothing_left() -> bool:
        return await log.lag(bench.topic, bench.group) == 0

    await eventually(nothing_left, timeout_s=EVENTUALLY_S)
    assert bench.ledger.dead_letters == bench.ledger.poison == []

"""Work longer than any deadline: an item of 40 simulated minutes in parts, while the group is rebalanced every 30 seconds."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.events import Event, document_event, encode
from eunoe_stores.blobs.port import BlobKey
from eunoe_stores.testing import MemoryBlobStore
from eunoe_stream.memory import MemoryLog
from eunoe_stream.runner import Runner
from eunoe_stream.subscription import Subscription
from eunoe_stream.testing import FakeLedger
from eunoe_telemetry.metrics import Metrics
from eunoe_telemetry.testing import SequentialIds
from eunoe_telemetry.virtual_time import VirtualClock, run_virtually

TENANT = "default"
DOCUMENT = UUID(int=1)
PART_S = 20.0
PARTS = 120
REBALANCE_S = 30.0


def part_event(part: int) -> Event:
    """The continuation: its id follows from the document and the part, so that publishing it twice is the same event."""
    body = events_pb2.DocumentAccepted(tenant=TENANT, document_id=str(DOCUMENT), generation=1)
    return document_event(topics.DOCUMENT_ACCEPTED, body, salt=f"part-{part}", trace=f"part-{part}")


class LongWork:
    """A handler as the design wants it: one part, whose result is a blob, then the event of the next part."""

    def __init__(self, clock: VirtualClock) -> None:
        self.blobs = MemoryBlobStore()
        self.computed: Counter[int] = Counter()
        self.finished = asyncio.Event()
        self._clock = clock

    async def handle(self, event: Event) -> Sequence[Event]:
        part = int(event.trace.rpartition("-")[2])
        key = BlobKey(DOCUMENT, 1, f"long-1-{part}")
        if (TENANT, key) not in self.blobs._blobs:
            self.computed[part] += 1
            await self._clock.sleep(PART_S)
            await self.blobs.put(TENANT, key, str(part).encode())
        if part == PARTS - 1:
            self.finished.set()
            return []
        return [part_event(part + 1)]


async def work_through() -> tuple[Counter[int], float, int]:
    clock, ids = VirtualClock(), SequentialIds()
    log = MemoryLog(clock=clock, ids=ids)
    work = LongWork(clock)
    subscription = Subscription(topics.DOCUMENT_ACCEPTED, "long", work.handle)

    def runner() -> Runner:
        return Runner(log, [subscription], ledger=FakeLedger(), clock=clock, ids=ids, metrics=Metrics(), instance=ids.new())

    running = [runner(), runner()]
    for each in running:
        await each.start()
    await log.publish([encode(part_event(0))])
    rebalances = 0
    while not work.finished.is_set():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(work.finished.wait(), REBALANCE_S)
        # The oldest member goes, in the midst of its work, and a new one comes: every partition may move.
        await running.pop(0).stop()
        running.append(runner())
        await running[-1].start()
        rebalances += 1
    for each in running:
        await each.stop()
    return work.computed, asyncio.get_running_loop().time(), rebalances


def test_an_item_of_forty_minutes_finishes_under_rebalances() -> None:
    computed, seconds, rebalances = run_virtually(work_through())
    assert sorted(computed) == list(range(PARTS))
    assert max(computed.values()) <= 2, computed.most_common(3)
    assert seconds >= PARTS * PART_S
    assert rebalances >= PARTS * PART_S / REBALANCE_S

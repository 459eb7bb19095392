from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid5

import pytest
from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.events import Event, Record, document_event, encode
from eunoe_contracts.stages import Stage, StageState
from eunoe_stream.ledger import StageKey
from eunoe_stream.runner import Runner
from eunoe_stream.subscription import Subscription
from eunoe_stream.testing import FakeLedger, MemoryLog
from eunoe_telemetry.metrics import Metrics
from eunoe_telemetry.testing import ManualClock, SequentialIds, eventually

GROUP = "extractor"
TENANT = "t"


class Bench:
    """A log, a ledger, a clock, and handlers that a test scripts."""

    group = GROUP
    topic = topics.DOCUMENT_ACCEPTED

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.ids = SequentialIds()
        self.log = MemoryLog(clock=self.clock, ids=self.ids, partitions=1)
        self.ledger = FakeLedger()
        self.metrics = Metrics()
        self.runners: list[Runner] = []
        self.handled: list[UUID] = []
        self.undone: list[UUID] = []
        self.errors: dict[UUID, list[Exception]] = {}
        self.gates: dict[UUID, asyncio.Event] = {}
        self.started: list[UUID] = []
        self.outputs = True

    def document(self, name: str) -> UUID:
        return uuid5(UUID(int=0), name)

    def key(self, name: str) -> StageKey:
        return StageKey(self.document(name), 1, Stage.EXTRACT)

    def event(self, name: str, salt: str = "") -> Event:
        body = events_pb2.DocumentAccepted(tenant=TENANT, document_id=str(self.document(name)), generation=1)
        return document_event(topics.DOCUMENT_ACCEPTED, body, salt=salt)

    def record(self, name: str, **headers: str) -> Record:
        record = encode(self.event(name))
        return replace(record, headers={**record.headers, **headers})

    async def accept(self, *names: str) -> None:
        await self.log.publish([self.record(each) for each in names])

    def fail(self, name: str, error: Exception, times: int = 1) -> None:
        self.errors.setdefault(self.document(name), []).extend([error] * times)

    def hold(self, name: str) -> asyncio.Event:
        return self.gates.setdefault(self.document(name), asyncio.Event())

    async def handler(self, event: Event) -> Sequence[Event]:
        document = event.document
        assert document is not None
        self.started.append(document)
        if (gate := self.gates.get(document)) is not None:
            await gate.wait()
        if waiting := self.errors.get(document):
            raise waiting.pop(0)
        self.handled.append(document)
        if not self.outputs:
            return []
        body = events_pb2.DocumentExtracted(tenant=TENANT, document_id=str(document), generation=event.generation)
        return [document_event(topics.DOCUMENT_EXTRACTED, body)]

    async def undo(self, event: Event) -> None:
        assert event.document is not None
        self.undone.append(event.document)

    def subscription(self, **changes: Any) -> Subscription:
        whole = Subscription(self.topic, GROUP, self.handler, stage=Stage.EXTRACT, undo=self.undo)
        return replace(whole, **changes)

    async def start(self, *, log: Any = None, instance: str = "one", **changes: Any) -> Runner:
        runner = Runner(
            log or self.log,
            [self.subscription(**changes)],
            ledger=self.ledger,
            clock=self.clock,
            ids=self.ids,
            metrics=self.metrics,
            instance=instance,
        )
        self.runners.append(runner)
        await runner.start()
        return runner

    async def settle(self) -> None:
        """Let everything run that can run without time passing."""
        for _ in range(200):
            await asyncio.sleep(0)

    async def committed(self, timeout_s: float = 10.0) -> None:
        """Wait until the main topic is committed, with small steps of time."""

        async def nothing_left() -> bool:
            return await self.log.lag(self.topic, GROUP) == 0

        await eventually(nothing_left, timeout_s=timeout_s, meanwhile=lambda: self.clock.advance(0.05))

    def names(self, topic: str) -> list[str]:
        return [record.headers["eunoe-event-id"] for record in self.log.records(topic)]

    def retries(self, seconds: int) -> list[Record]:
        return self.log.records(f"{self.topic}.{GROUP}.retry.{seconds}s")

    def dead(self) -> list[Record]:
        return self.log.records(topics.dead_topic(self.topic, GROUP))

    def state(self, name: str) -> StageState:
        return self.ledger.state(TENANT, self.key(name))

    def counted(self, outcome: str, stage: str = "extract") -> float:
        labels = {"stage": stage, "outcome": outcome}
        return self.metrics.registry.get_sample_value("eunoe_stage_messages_total", labels) or 0.0


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    made = Bench()
    yield made
    for each in made.runners:
        await each.stop()

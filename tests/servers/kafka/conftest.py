"""A log on the real broker with topics of the test's own, and the runner on it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid5

import pytest
from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.events import Event, Record, document_event, encode
from eunoe_contracts.stages import Stage
from eunoe_stream.kafka import KafkaLog, KafkaSettings, open_kafka_log
from eunoe_stream.kafka.testing import trial_settings, trial_topics
from eunoe_stream.runner import Runner
from eunoe_stream.subscription import Subscription
from eunoe_stream.testing import FakeLedger
from eunoe_telemetry.clock import RandomIds, SystemClock
from eunoe_telemetry.metrics import Metrics

GROUP = "extractor"
TENANT = "t"
TIER = timedelta(seconds=1)
prefixes = itertools.count()


class Bench:
    """Logs (each is one process for Kafka), runners and a scripted handler on topics of one test."""

    topic = topics.DOCUMENT_ACCEPTED
    group = GROUP
    tier = TIER

    def __init__(self, address: str, stack: AsyncExitStack) -> None:
        self.prefix = f"trap{next(prefixes)}."
        self.address = address
        self.stack = stack
        self.settings = trial_settings(address, prefix=self.prefix)
        self.ledger = FakeLedger()
        self.started: list[UUID] = []
        self.handled: list[UUID] = []
        self.gates: dict[UUID, asyncio.Event] = {}
        self.errors: dict[UUID, Exception] = {}
        self.runners: list[Runner] = []

    @property
    def names(self) -> list[str]:
        tier = topics.retry_topic(self.topic, GROUP, TIER)
        return [self.topic, tier, topics.dead_topic(self.topic, GROUP), topics.STAGE_FINISHED]

    def document(self, name: object) -> UUID:
        return uuid5(UUID(int=0), str(name))

    def record(self, name: object) -> Record:
        body = events_pb2.DocumentAccepted(tenant=TENANT, document_id=str(self.document(name)), generation=1)
        return encode(document_event(self.topic, body))

    def hold(self, name: object) -> asyncio.Event:
        return self.gates.setdefault(self.document(name), asyncio.Event())

    def fail(self, name: object, error: Exception) -> None:
        self.errors[self.document(name)] = error

    async def handler(self, event: Event) -> Sequence[Event]:
        assert event.document is not None
        self.started.append(event.document)
        if (gate := self.gates.get(event.document)) is not None:
            await gate.wait()
        if (error := self.errors.pop(event.document, None)) is not None:
            raise error
        self.handled.append(event.document)
        return []

    async def open(self, **changes: Any) -> KafkaLog:
        settings = trial_settings(self.address, prefix=self.prefix, **changes)
        return await self.stack.enter_async_context(open_kafka_log(settings, clock=SystemClock(), ids=RandomIds()))

    async def run(self, log: KafkaLog, *, concurrency: int = 64) -> Runner:
        subscription = Subscription(self.topic, GROUP, self.handler, stage=Stage.EXTRACT, concurrency=concurrency)
        runner = Runner(
            log,
            [subscription],
            ledger=self.ledger,
            clock=SystemClock(),
            ids=RandomIds(),
            metrics=Metrics(),
            instance=RandomIds().new(),
            retry_delays=[TIER],
        )
        self.runners.append(runner)
        await runner.start()
        return runner

    async def everything(self, log: KafkaLog, topic: str, count: int, *, group: str = "reader") -> list[Any]:
        """The first `count` records of a topic."""
        consumer = await log.consumer(group, [topic])
        found: list[Any] = []
        async with asyncio.timeout(20):
            while len(found) < count:
                found += await consumer.fetch(100, 1)
        await consumer.close()
        return found


@pytest.fixture
def kafka(servers: Any) -> Any:
    return servers["kafka"]


@pytest.fixture
async def bench(kafka: Any) -> AsyncIterator[Bench]:
    async with AsyncExitStack() as stack:
        made = Bench(kafka.address, stack)
        await stack.enter_async_context(trial_topics(made.settings, made.names))
        yield made
        for each in made.runners:
            await each.stop()


@pytest.fixture
def settings(bench: Bench) -> KafkaSettings:
    return bench.settings

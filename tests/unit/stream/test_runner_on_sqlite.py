"""The runner on the real log and the real clock, and a process that dies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from uuid import UUID, uuid5

import pytest
from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.events import Event, document_event, encode
from eunoe_contracts.stages import Stage
from eunoe_stores.sqlite.database import SqliteDatabase
from eunoe_stream.log import Log
from eunoe_stream.runner import Runner
from eunoe_stream.sqlite import SqliteLog
from eunoe_stream.subscription import Subscription
from eunoe_stream.testing import FakeLedger
from eunoe_telemetry.clock import RandomIds, SystemClock
from eunoe_telemetry.metrics import Metrics
from eunoe_telemetry.testing import eventually

DOCUMENTS = [uuid5(UUID(int=0), str(n)) for n in range(150)]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "eunoe.db")
    yield database
    await database.close()


class Pipeline:
    """Two stages and a finisher; each third document fails once on its way."""

    def __init__(self) -> None:
        self.extracted: list[UUID] = []
        self.embedded: list[UUID] = []
        self.woken: set[tuple[str, str]] = set()
        self.failed: set[UUID] = set()

    def subscriptions(self) -> list[Subscription]:
        return [
            Subscription(topics.DOCUMENT_ACCEPTED, "extractor", self.extract, stage=Stage.EXTRACT),
            Subscription(topics.DOCUMENT_EXTRACTED, "embedder", self.embed, stage=Stage.EMBED),
            Subscription(topics.STAGE_FINISHED, "finisher", self.finish),
        ]

    async def extract(self, event: Event) -> Sequence[Event]:
        document = event.document
        assert document is not None
        if document.int % 3 == 0 and document not in self.failed:
            self.failed.add(document)
            raise StoreUnavailable
        await asyncio.sleep(0)
        self.extracted.append(document)
        body = events_pb2.DocumentExtracted(tenant="t", document_id=str(document), generation=1)
        return [document_event(topics.DOCUMENT_EXTRACTED, body)]

    async def embed(self, event: Event) -> Sequence[Event]:
        assert event.document is not None
        self.embedded.append(event.document)
        return []

    async def finish(self, event: Event) -> Sequence[Event]:
        assert isinstance(event.body, events_pb2.StageFinished)
        self.woken.add((event.body.document_id, event.body.stage))
        return []


async def make_runner(database: SqliteDatabase, pipeline: Pipeline, ledger: FakeLedger) -> tuple[Runner, Log]:
    log = SqliteLog(database, clock=SystemClock(), ids=RandomIds())
    await log.release_leases()
    runner = Runner(
        log,
        pipeline.subscriptions(),
        ledger=ledger,
        clock=SystemClock(),
        ids=RandomIds(),
        metrics=Metrics(),
        instance=RandomIds().new(),
        claim_lease_s=0.3,
    )
    return runner, log


async def accept(log: Log) -> None:
    bodies = [events_pb2.DocumentAccepted(tenant="t", document_id=str(each), generation=1) for each in DOCUMENTS]
    await log.publish([encode(document_event(topics.DOCUMENT_ACCEPTED, each)) for each in bodies])


async def test_every_document_passes_both_stages_once(database: SqliteDatabase) -> None:
    pipeline = Pipeline()
    runner, log = await make_runner(database, pipeline, FakeLedger())
    await runner.start()
    await accept(log)
    await eventually(lambda: len(pipeline.woken) == 2 * len(DOCUMENTS), timeout_s=30)
    await runner.drain(5)
    assert sorted(pipeline.extracted) == sorted(pipeline.embedded) == sorted(DOCUMENTS)
    for subscription in pipeline.subscriptions():
        assert await log.lag(subscription.topic, subscription.group) == 0


async def test_a_process_that_stops_again_and_again_loses_nothing(database: SqliteDatabase) -> None:
    pipeline, ledger = Pipeline(), FakeLedger()
    runner, log = await make_runner(database, pipeline, ledger)
    await accept(log)
    for goal in (1, 60, 150):
        await runner.start()
        await eventually(lambda goal=goal: len(pipeline.woken) >= goal, timeout_s=30)
        await runner.stop()
        runner, log = await make_runner(database, pipeline, ledger)
    await runner.start()
    await eventually(lambda: len(pipeline.woken) == 2 * len(DOCUMENTS), timeout_s=30)
    await runner.drain(5)
    assert set(pipeline.extracted) == set(pipeline.embedded) == set(DOCUMENTS)
    assert await log.lag(topics.DOCUMENT_ACCEPTED, "extractor") == 0

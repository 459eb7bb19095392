"""The log forgets what every group has behind it, and nothing else."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from eunoe_contracts import topics
from eunoe_contracts.errors import ConfigurationError, StoreUnavailable
from eunoe_contracts.events import Record
from eunoe_standalone.retention import LONGEST_PAUSE_S, Retention
from eunoe_standalone.settings import ServerSettings
from eunoe_standalone.settings_catalogue import load
from eunoe_standalone.testing_pipeline import FastClock, pipeline, until
from eunoe_stores.sqlite.database import SqliteDatabase
from eunoe_stream.sqlite import SqliteLog
from eunoe_telemetry.testing import ManualClock, SequentialIds, eventually

WEEK_S = 604_800.0
TOPIC, GROUP = topics.DOCUMENT_ACCEPTED, "extractor"
DEAD = topics.dead_topic(TOPIC, GROUP)
KEY = "default/document"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def log(tmp_path: Path, clock: ManualClock) -> AsyncIterator[SqliteLog]:
    database = SqliteDatabase(tmp_path / "eunoe.db")
    yield SqliteLog(database, clock=clock, ids=SequentialIds(), partitions=1)
    await database.close()


def stored(folder: Path, topic: str) -> int:
    with closing(sqlite3.connect(folder / "eunoe.db")) as database:
        query = "SELECT count(*) FROM log_records JOIN log_topics ON log_topics.id = topic_id WHERE name = ?"
        return int(database.execute(query, (topic,)).fetchone()[0])


async def test_old_records_go_once_every_group_has_them_behind_it(log: SqliteLog, clock: ManualClock, tmp_path: Path) -> None:
    await log.publish([Record(TOPIC, KEY, b"1"), Record(TOPIC, KEY, b"2"), Record(DEAD, KEY, b"dead")])
    consumer = await log.consumer(GROUP, [TOPIC])
    (first, _) = await consumer.fetch(10, 0)
    task = asyncio.create_task(Retention(log, clock, WEEK_S).run())
    clock.advance(WEEK_S - LONGEST_PAUSE_S / 2)
    await consumer.commit({first.source: first.offset + 1})
    assert stored(tmp_path, TOPIC) == 2

    # The one that is committed goes at the next pass; the one that is not stays, however old it is.
    await eventually(lambda: stored(tmp_path, TOPIC) == 1, meanwhile=lambda: clock.advance(LONGEST_PAUSE_S))
    clock.advance(4 * WEEK_S)
    await Retention(log, clock, WEEK_S).trim()
    assert stored(tmp_path, TOPIC) == 1
    await consumer.commit({first.source: first.offset + 2})
    await Retention(log, clock, WEEK_S).trim()
    assert (stored(tmp_path, TOPIC), stored(tmp_path, DEAD)) == (0, 1)
    task.cancel()


@pytest.mark.parametrize("error", [StoreUnavailable(), ValueError("a defect")])
async def test_a_pass_that_fails_is_left_to_the_next(clock: ManualClock, error: Exception) -> None:
    calls: list[datetime] = []

    class Down:
        async def trim(self, older_than: datetime) -> int:
            calls.append(older_than)
            raise error

    task = asyncio.create_task(Retention(Down(), clock, WEEK_S).run())
    await eventually(lambda: len(calls) == 3, meanwhile=lambda: clock.advance(LONGEST_PAUSE_S))
    task.cancel()


async def test_the_server_does_it(tmp_path: Path) -> None:
    async with pipeline(tmp_path, clock=FastClock(100), event_retention_s=60.0) as running:
        await running.ended(await running.post("Alice likes tea."))  # it has been through the topics

        async def gone() -> bool:
            return stored(tmp_path, TOPIC) == stored(tmp_path, topics.STAGE_FINISHED) == 0

        await until(gone)


@pytest.mark.parametrize("value", ["0", "-1", "inf", "nan", "a week"])
def test_the_setting_is_checked(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load(ServerSettings).event_retention_s == WEEK_S
    monkeypatch.setenv("EUNOE_SERVER__EVENT_RETENTION_S", value)
    with pytest.raises(ConfigurationError, match="EVENT_RETENTION_S"):
        load(ServerSettings)

"""Making topics: once, with what the settings say, telling what differs and altering nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from eunoe_contracts import topics
from eunoe_contracts.errors import ConfigurationError, StoreUnavailable
from eunoe_contracts.events import Record
from eunoe_stream.kafka import Difference, provision
from eunoe_stream.kafka import log as kafka_log
from eunoe_stream.kafka import producer as kafka_producer
from eunoe_stream.kafka.testing import admin_of, trial_settings

pytestmark = pytest.mark.servers

READERS = [(topics.STAGE_FINISHED, "finisher")]


async def test_provisioning_twice_makes_everything_once(bench: Any) -> None:
    settings = trial_settings(bench.address, prefix=f"{bench.prefix}made.", partitions=3, dead_retention_hours=1000)
    first = await provision(settings, READERS)
    assert first.is_complete
    assert len(first.created) == len(topics.ALL) + 5
    assert first.existing == first.differences == ()
    second = await provision(settings, READERS)
    assert second.created == second.differences == ()
    assert set(second.existing) == set(first.created)
    async with admin_of(settings) as admin:
        described = {each["topic"]: len(each["partitions"]) for each in await admin.describe_topics(list(first.created))}
    assert described[f"{settings.topic_prefix}{topics.STAGE_FINISHED}"] == 3
    assert described[f"{settings.topic_prefix}{topics.dead_topic(*READERS[0])}"] == settings.dead_partitions


async def test_what_differs_is_told_and_not_altered(bench: Any) -> None:
    settings = trial_settings(bench.address, prefix=f"{bench.prefix}differs.", partitions=1)
    await provision(settings, READERS)
    wanted = settings.model_copy(update={"partitions": 2, "retention_hours": 1.0})
    for _ in range(2):
        found = await provision(wanted, READERS)
        assert found.created == ()
        work = f"{settings.topic_prefix}{topics.STAGE_FINISHED}"
        mine = {each for each in found.differences if each.topic == work}
        assert mine == {Difference(work, "partitions", "2", "1"), Difference(work, "retention.ms", "3600000", "604800000")}
        assert f"{work}: partitions is 1, the settings say 2" in {str(each) for each in mine}


async def test_what_cannot_be_made_is_told(bench: Any) -> None:
    settings = trial_settings(bench.address, prefix=f"{bench.prefix}failed.", replication=3)
    found = await provision(settings, READERS)
    assert not found.is_complete
    assert len(found.failed) == len(topics.ALL) + 5
    assert all("replication factor" in each.lower() for each in found.failed.values())
    assert found.created == ()


async def test_a_missing_topic_is_named_and_never_made_by_using_it(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_log, "NEW_TOPIC_S", 0.5)
    monkeypatch.setattr(kafka_producer, "METADATA_S", 0.5)
    log = await bench.open()
    reading, writing = await asyncio.gather(
        log.consumer("g", ["absent"]), log.publish([Record("absent", "k", b"")]), return_exceptions=True
    )
    assert isinstance(reading, ConfigurationError)
    assert isinstance(writing, StoreUnavailable)
    for each in (reading, writing):
        assert f"{bench.prefix}absent; `eunoe admin provision` creates" in each.message
    async with admin_of(bench.settings) as admin:
        assert bench.prefix + "absent" not in await admin.list_topics()


async def test_no_broker_is_an_outage() -> None:
    with pytest.raises(StoreUnavailable):
        await provision(trial_settings("127.0.0.1:1", prefix="x."), READERS)

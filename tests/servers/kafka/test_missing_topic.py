"""A topic is deleted in mid-flight and stays away for a while: the member says so, ends what it has, and goes on when it is there again."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from aiokafka.admin import NewTopic
from eunoe_contracts.errors import StoreUnavailable
from eunoe_stream.kafka import member as member_module
from eunoe_stream.kafka.testing import CREATE_MS, admin_of
from eunoe_telemetry.testing import eventually

pytestmark = pytest.mark.servers

EVENTUALLY_S = 40.0
COUNT = 12


async def test_work_goes_on_when_the_topic_is_provisioned_again(
    bench: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(member_module, "MISSING_S", 0.3)
    caplog.set_level(logging.WARNING, "eunoe_stream")
    name = bench.prefix + bench.topic
    log = await bench.open()
    gate = bench.hold(0)
    await log.publish([bench.record(n) for n in range(COUNT)])
    runner = await bench.run(log)
    await eventually(lambda: len(bench.handled) == COUNT - 1, timeout_s=EVENTUALLY_S)
    async with admin_of(bench.settings) as admin:
        await admin.delete_topics([name], timeout_ms=CREATE_MS)
    await eventually(lambda: runner.health()[bench.group].reason == "store_unavailable", timeout_s=EVENTUALLY_S)
    assert f"missing topics: {bench.topic}; `eunoe admin provision` creates them" in caplog.text
    gate.set()
    await eventually(lambda: len(bench.handled) == COUNT, timeout_s=EVENTUALLY_S)

    async def is_made() -> bool:
        async with admin_of(bench.settings) as admin:
            answer = await admin.create_topics([NewTopic(name, 4, 1)], timeout_ms=CREATE_MS)
        return not answer.topic_errors[0][1]

    await eventually(is_made, timeout_s=EVENTUALLY_S)

    async def is_published() -> bool:
        try:
            await log.publish([bench.record(n) for n in range(COUNT, 2 * COUNT)])
        except StoreUnavailable:
            return False
        return True

    await eventually(is_published, timeout_s=EVENTUALLY_S)
    await eventually(lambda: set(bench.handled) == {bench.document(n) for n in range(2 * COUNT)}, timeout_s=EVENTUALLY_S)

    async def is_well() -> bool:
        return not runner.health()[bench.group].reason and await log.lag(bench.topic, bench.group) == 0

    await eventually(is_well, timeout_s=EVENTUALLY_S)

"""Records that nobody can read: each becomes one dead letter with its own bytes, and what is behind it is handled."""

from __future__ import annotations

from typing import Any

import pytest
from eunoe_contracts import topics
from eunoe_stream.kafka.connection import make_producer
from eunoe_telemetry.testing import eventually

pytestmark = pytest.mark.servers

EVENTUALLY_S = 20.0
POISON: dict[str, tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]]]] = {
    "not an event": (b"k", b"{}", []),
    "body cut off": (b"k", b"\x0a\xff", [("eunoe-schema-version", b"1")]),
    "header without text": (b"k", b"{}", [("eunoe-schema-version", b"1"), ("eunoe-tenant", b"\xff\xfe")]),
    "header without value": (b"k", b"{}", [("eunoe-schema-version", None)]),
    "key without text": (b"\xff", b"{}", []),
    "no key": (None, b"{}", []),
    "no value": (b"k", None, []),
}


@pytest.mark.parametrize("name", POISON)
async def test_poison_first_in_a_partition_is_dead_lettered_as_it_came(name: str, bench: Any, settings: Any) -> None:
    key, value, headers = POISON[name]
    producer = make_producer(settings, client_id="stranger")
    await producer.start()
    try:
        await producer.send_and_wait(bench.prefix + bench.topic, key=key, value=value, headers=headers, partition=1)
    finally:
        await producer.stop()
    log = await bench.open()
    await log.publish([bench.record(n) for n in range(12)])
    await bench.run(log)
    await eventually(lambda: len(bench.handled) == 12, timeout_s=EVENTUALLY_S)

    async def nothing_left() -> bool:
        return await log.lag(bench.topic, bench.group) == 0

    await eventually(nothing_left, timeout_s=EVENTUALLY_S)
    assert len(bench.ledger.poison) == 1
    dead = topics.dead_topic(bench.topic, bench.group)
    [letter] = await raw(settings, bench.prefix + dead)
    assert letter.key == key
    assert letter.value == value
    assert list(letter.headers)[: len(headers)] == headers
    assert dict(letter.headers)["eunoe-error-code"] == b"malformed_event"


async def raw(settings: Any, topic: str) -> list[Any]:
    from eunoe_stream.kafka.connection import make_observer

    consumer = make_observer(settings, client_id="operator")
    consumer.subscribe([topic])
    await consumer.start()
    try:
        found: list[Any] = []

        async def arrived() -> bool:
            batches = await consumer.getmany(timeout_ms=500)
            found.extend(record for records in batches.values() for record in records)
            return bool(found)

        await eventually(arrived, timeout_s=EVENTUALLY_S)
        return found
    finally:
        await consumer.stop()

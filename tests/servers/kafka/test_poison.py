"""Records that nobody can read, or that no broker takes: each becomes one dead letter with a reason, and what is behind it is handled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from eunoe_contracts import topics
from eunoe_contracts.events import Event, Record
from eunoe_contracts.stages import Stage, StageState
from eunoe_stream.kafka.connection import make_observer
from eunoe_stream.kafka.testing import RawHeader, send_raw
from eunoe_stream.ledger import StageKey
from eunoe_telemetry.testing import eventually

pytestmark = pytest.mark.servers

EVENTUALLY_S = 20.0
POISON: dict[str, tuple[bytes | None, bytes | None, list[RawHeader]]] = {
    "not an event": (b"k", b"{}", []),
    "body cut off": (b"k", b"\x0a\xff", [(b"eunoe-schema-version", b"1")]),
    "header without text": (b"k", b"{}", [(b"eunoe-schema-version", b"1"), (b"eunoe-tenant", b"\xff\xfe")]),
    "header without value": (b"k", b"{}", [(b"eunoe-schema-version", None)]),
    "header name without text": (b"k", b"{}", [(b"eunoe-\xff", b"1")]),
    "key without text": (b"\xff", b"{}", []),
    "no key": (None, b"{}", []),
    "no value": (b"k", None, []),
}


async def test_poison_first_in_a_partition_is_dead_lettered_as_it_came(bench: Any, settings: Any) -> None:
    sent: dict[str, tuple[bytes | None, bytes | None, list[RawHeader]]] = {}
    for number, (key, value, headers) in enumerate(POISON.values()):
        partition, offset = number % 4, number // 4
        sent[f"{bench.topic}/{partition}/{offset}"] = (key, value, headers)
        await send_raw(settings, bench.prefix + bench.topic, partition=partition, key=key, value=value, headers=headers)
    log = await bench.open()
    await log.publish([bench.record(n) for n in range(12)])
    await bench.run(log)
    await eventually(lambda: len(bench.handled) == 12, timeout_s=EVENTUALLY_S)
    await nothing_left(bench, log)
    assert len(bench.ledger.poison) == len({event_id for _, _, _, event_id, _ in bench.ledger.poison}) == len(POISON)
    letters = await raw(settings, bench.prefix + topics.dead_topic(bench.topic, bench.group), len(POISON))
    found = {dict(each.headers)["eunoe-origin"].decode(): each for each in letters}
    assert found.keys() == sent.keys()
    for origin, (key, value, headers) in sent.items():
        letter = found[origin]
        assert (letter.key, letter.value) == (key, value)
        assert list(letter.headers)[: len(headers)] == [(name.decode(errors="backslashreplace"), text) for name, text in headers]
        assert dict(letter.headers)["eunoe-error-code"] == b"malformed_event"


async def test_a_record_above_the_fetch_size_and_above_our_limit_does_not_hold_its_partition_up(bench: Any) -> None:
    settings = bench.settings.model_copy(update={"max_record_bytes": 400_000})
    large = bench.record("large")
    # A field that nobody knows; the first is above what a fetch asks for, the second is above what we publish.
    whole = Record(large.topic, large.key, large.value + b"\xfa\x7f\x80\x89\x0f" + b"x" * 0x3C480, large.headers)
    log = await bench.open(max_record_bytes=400_000)
    await log.publish([whole])
    await send_raw(settings, bench.prefix + bench.topic, partition=1, key=b"k", value=b"x" * 600_000, headers=[])
    await log.publish([bench.record(n) for n in range(12)])
    await bench.run(log)
    await eventually(lambda: len(bench.handled) == 13, timeout_s=EVENTUALLY_S)
    await nothing_left(bench, log)
    [(_, _, failure, _, _)] = bench.ledger.poison
    assert failure.code == "malformed_event"
    [letter] = await raw(settings, bench.prefix + topics.dead_topic(bench.topic, bench.group), 1)
    assert letter.value == b""
    assert dict(letter.headers)["eunoe-value-bytes"] == b"600000"
    assert dict(letter.headers)["eunoe-origin"].startswith(f"{bench.topic}/1/".encode())


async def test_a_compression_that_we_do_not_know_does_not_stop_a_partition(bench: Any, settings: Any) -> None:
    """The brokers undo it: they are told to keep these topics uncompressed."""
    for partition in range(4):
        await send_raw(
            settings,
            bench.prefix + bench.topic,
            partition=partition,
            key=b"k",
            value=b"{}" * 500,
            headers=[],
            compressed=partition % 2 == 0,
        )
    log = await bench.open()
    await log.publish([bench.record(n) for n in range(12)])
    await bench.run(log)
    await eventually(lambda: len(bench.handled) == 12, timeout_s=EVENTUALLY_S)
    await nothing_left(bench, log)
    letters = await raw(settings, bench.prefix + topics.dead_topic(bench.topic, bench.group), 4)
    assert {each.value for each in letters} == {b"{}" * 500}


@pytest.mark.parametrize("narrower", [False, True])
async def test_a_result_above_the_limit_ends_in_the_dead_letters(bench: Any, narrower: bool) -> None:
    """Above our own limit, and above that of a broker with a smaller one, which finds it only when it has been sent."""
    size = 1_100_000
    plain = bench.handler

    async def handler(event: Event) -> Sequence[Event]:
        await plain(event)
        event.body.tenant = "x" * size if event.document == bench.document(3) else event.tenant
        return [Event(event.id, topics.STAGE_FINISHED, event.key, event.tenant, event.body)]

    bench.handler = handler
    log = await bench.open(max_record_bytes=1_000_000 + narrower * 1_000_000)
    await log.publish([bench.record(n) for n in range(12)])
    await bench.run(log)
    await nothing_left(bench, log)
    states = [bench.ledger.state("t", StageKey(bench.document(n), 1, Stage.EXTRACT)) for n in range(12)]
    assert states == [StageState.EXHAUSTED if n == 3 else StageState.FINISHED for n in range(12)]
    [(_, failure)] = bench.ledger.dead_letters
    assert failure.code == "payload_too_large"
    assert "EUNOE_KAFKA__MAX_RECORD_BYTES" in failure.message
    assert len(bench.started) == 12
    [letter] = await raw(bench.settings, bench.prefix + topics.dead_topic(bench.topic, bench.group), 1)
    assert dict(letter.headers)["eunoe-error-code"] == b"payload_too_large"


async def nothing_left(bench: Any, log: Any) -> None:
    async def all_committed() -> bool:
        return await log.lag(bench.topic, bench.group) == 0

    await eventually(all_committed, timeout_s=EVENTUALLY_S)


async def raw(settings: Any, topic: str, count: int) -> list[Any]:
    """All records of a topic, which are that many."""
    consumer = make_observer(settings, client_id="operator")
    consumer.subscribe([topic])
    await consumer.start()
    try:
        found: list[Any] = []

        async def arrived() -> bool:
            batches = await consumer.getmany(timeout_ms=100)
            found.extend(record for records in batches.values() for record in records)
            return len(found) >= count

        await eventually(arrived, timeout_s=EVENTUALLY_S)
        assert len(found) == count
        return found
    finally:
        await consumer.stop()

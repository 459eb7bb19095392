"""What is too large for the log ends in the dead letters with a reason; it is not tried for ever, and others do not wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from eunoe_contracts import topics
from eunoe_contracts.errors import CorruptDocument, PayloadTooLarge, StoreUnavailable
from eunoe_contracts.events import Event, Record
from eunoe_contracts.stages import StageState
from eunoe_telemetry.testing import eventually

LIMIT = 2_000


class NarrowLog:
    """Takes records of at most 2,000 bytes with their headers; others may come from elsewhere."""

    def __init__(self, log: Any) -> None:
        self._log = log
        self.refused = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    async def publish(self, records: Sequence[Record]) -> None:
        for each in records:
            if len(each.value) + sum(len(name) + len(text) for name, text in each.headers.items()) > LIMIT:
                self.refused += 1
                raise PayloadTooLarge
        await self._log.publish(records)


@pytest.fixture
def narrow(bench: Any) -> NarrowLog:
    return NarrowLog(bench.log)


def padded(record: Record, size: int) -> Record:
    """With a field that nobody knows, and therefore nobody reads."""
    length = size - len(record.value) - sum(len(name) + len(text) for name, text in record.headers.items()) - 4
    return replace(record, value=record.value + b"\xfa\x7f" + bytes([length & 0x7F | 0x80, length >> 7]) + b"x" * length)


async def test_a_result_that_is_too_large_ends_its_document_and_no_other(bench: Any, narrow: NarrowLog) -> None:
    plain = bench.handler
    gate = bench.hold("large")

    async def handler(event: Event) -> Sequence[Event]:
        found: list[Event] = list(await plain(event))
        if event.document == bench.document("large"):
            found[0].body.tenant = "x" * LIMIT
        return found

    bench.handler = handler
    await bench.start(log=narrow)
    for name in ("a", "b", "c"):
        bench.gates[bench.document(name)] = gate
    await bench.accept("a", "large", "b", "c")
    await eventually(lambda: len(bench.started) == 4)
    gate.set()
    await bench.committed()
    assert [bench.state(each) for each in ("a", "b", "c", "large")] == [StageState.FINISHED] * 3 + [StageState.EXHAUSTED]
    [dead] = bench.dead()
    assert dead.headers["eunoe-error-code"] == "payload_too_large"
    [(key, failure)] = bench.ledger.dead_letters
    assert (key, failure.code) == (bench.key("large"), "payload_too_large")
    assert len(bench.names(topics.DOCUMENT_EXTRACTED)) == 3
    assert narrow.refused <= 2, "together with others, then alone"


async def test_a_record_that_no_retry_could_hold_is_dead_at_once(bench: Any, narrow: NarrowLog) -> None:
    bench.fail("a", StoreUnavailable())
    await bench.start(log=narrow)
    await bench.log.publish([padded(bench.record("a"), LIMIT)])
    await bench.committed()
    assert bench.state("a") is StageState.EXHAUSTED
    assert [failure.code for _, failure in bench.ledger.dead_letters] == ["payload_too_large"]
    assert bench.retries(1) == []
    assert len(bench.dead()) == 1


@pytest.mark.parametrize("decodes", [True, False])
async def test_the_dead_letter_of_what_is_too_large_is_a_notice_of_where_it_lies(bench: Any, narrow: NarrowLog, decodes: bool) -> None:
    record = padded(bench.record("a"), LIMIT + 500)
    if not decodes:
        record = replace(record, headers={"h": "x" * LIMIT})
    bench.fail("a", CorruptDocument())
    await bench.start(log=narrow)
    await bench.log.publish([record])
    await bench.committed()
    [dead] = bench.dead()
    assert dead.value == b""
    assert dead.headers["eunoe-value-bytes"] == str(len(record.value))
    assert dead.headers["eunoe-origin"] == f"{bench.topic}/0/0"
    assert dead.headers["eunoe-error-code"] == ("corrupt_document" if decodes else "malformed_event")
    assert dead.headers.get("eunoe-tenant") == ("t" if decodes else None)


async def test_work_that_somebody_else_holds_and_no_retry_could_hold_is_not_repeated_for_ever(bench: Any, narrow: NarrowLog) -> None:
    await bench.ledger.claim("t", bench.key("a"), owner="other", lease_s=60, now=bench.clock.now())
    await bench.start(log=narrow)
    await bench.log.publish([padded(bench.record("a"), LIMIT)])
    await bench.committed()
    assert bench.handled == []
    assert [failure.code for _, failure in bench.ledger.dead_letters] == ["payload_too_large"]

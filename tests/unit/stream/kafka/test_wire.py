"""Records as bytes and back, above all those that are no text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest
from eunoe_contracts.errors import MalformedEvent
from eunoe_contracts.events import HEADER_VERSION, Record, decode
from eunoe_stream.kafka.wire import RawHeaders, incoming, outgoing
from eunoe_stream.log import Delivery

TOPIC = "eunoe.document.accepted.v1"


@dataclass
class Fetched:
    """The fields of aiokafka's `ConsumerRecord` that count."""

    key: bytes | None
    value: bytes | None
    headers: RawHeaders
    topic: str = f"p.{TOPIC}"
    partition: int = 2
    offset: int = 7
    timestamp: int = 1_700_000_000_123


def read(key: bytes | None, value: bytes | None, headers: RawHeaders) -> Delivery:
    return incoming(Fetched(key, value, headers), prefix="p.")


def test_a_plain_record_comes_back_as_it_was() -> None:
    record = Record(TOPIC, "t/\u00fc", b"\x00\xff", {"eunoe-tenant": "t", "x": "\u4f60", "empty": ""})
    sent = outgoing(record, prefix="p.")
    assert sent.topic == f"p.{TOPIC}"
    found = read(sent.key, sent.value, tuple(sent.headers))
    assert found.record == record
    assert (found.partition, found.offset) == (2, 7)
    assert found.published_at == datetime(2023, 11, 14, 22, 13, 20, 123_000, UTC)


CASES: dict[str, tuple[bytes | None, bytes | None, RawHeaders]] = {
    "no key": (None, b"v", ()),
    "no value": (b"k", None, ()),
    "key without text": (b"\xff\x00", b"v", ()),
    "header without text": (b"k", b"v", (("a", b"\xc3"), ("b", b"2"))),
    "header without value": (b"k", b"v", (("a", None),)),
    "zero character": (b"k", b"v", (("eunoe-tenant", b"t\x00"),)),
    "header twice": (b"k", b"v", (("a", b"1"), ("a", b"2"))),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_no_text_is_delivered_and_dead_lettered_in_its_own_bytes(name: str) -> None:
    key, value, headers = CASES[name]
    found = read(key, value, headers)
    for text in (found.record.key, *found.record.headers.values()):
        assert "\0" not in text, "stores refuse it"
        text.encode()
    with pytest.raises(MalformedEvent):
        decode(found.record)
    # As the runner makes a dead letter: another topic, more headers.
    dead = replace(found.record, topic="dead", headers={**found.record.headers, "eunoe-error-code": "malformed_event"})
    sent = outgoing(dead, prefix="p.")
    assert sent == ("p.dead", key, value, [*headers, ("eunoe-error-code", b"malformed_event")])


def test_a_changed_header_wins_over_its_old_bytes() -> None:
    found = read(None, b"v", ((HEADER_VERSION, b"1"), ("a", b"\xff")))
    sent = outgoing(replace(found.record, headers={**found.record.headers, HEADER_VERSION: "2"}), prefix="")
    assert sent.headers == [("a", b"\xff"), (HEADER_VERSION, b"2")]


def test_nothing_at_all_can_still_be_sent() -> None:
    sent = outgoing(read(None, None, ()).record, prefix="")
    assert (sent.key, sent.value) == (None, b"")

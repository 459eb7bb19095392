"""A record of ours as Kafka's bytes and back. What is not text is kept beside a readable view, so that it is passed on as it came."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from eunoe_contracts.events import Record

from eunoe_stream.log import Delivery

UNREADABLE = "\ufffd"
AROUND_RECORD, AROUND_HEADER = 100, 10
COPY_ROOM = 32_768
"""What the headers of a retry or a dead letter may add to the largest record."""
RawHeaders = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class RawRecord(Record):
    """A record whose key, value or headers say something that a `Record` cannot: no key, no value, bytes that are no text, a header twice.

    `key`, `value` and `headers` are the readable view. Published again (as the runner does with what it cannot decode, under another
    topic and with more headers), the parts that did not change go out as the bytes they were.
    """

    raw_key: bytes | None = None
    raw_value: bytes | None = b""
    raw_headers: RawHeaders = ()


class Outgoing(NamedTuple):
    """What the producer is given."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


def outgoing(record: Record, *, prefix: str) -> Outgoing:
    """The record in bytes."""
    topic = prefix + record.topic
    if not isinstance(record, RawRecord):
        headers: list[tuple[str, bytes | None]] = [(name, value.encode()) for name, value in record.headers.items()]
        return Outgoing(topic, record.key.encode(), record.value, headers)
    seen = _view(record.raw_headers)
    kept = [(name, value) for name, value in record.raw_headers if record.headers.get(name) == seen[name]]
    names = {name for name, _ in kept}
    added: list[tuple[str, bytes | None]] = [(name, value.encode()) for name, value in record.headers.items() if name not in names]
    value = record.raw_value
    # A record without key and value is refused by the client; the empty value says as little.
    return Outgoing(topic, record.raw_key, b"" if value is None and record.raw_key is None else value, kept + added)


def size_of(sent: Outgoing) -> int:
    """Bytes that it takes in a batch of its own, at most."""
    headers = sum(len(name.encode()) + len(value or b"") + AROUND_HEADER for name, value in sent.headers)
    return AROUND_RECORD + len(sent.key or b"") + len(sent.value or b"") + headers


def incoming(record: Any, *, prefix: str) -> Delivery:
    """A fetched record (aiokafka's `ConsumerRecord`). Never raises: what cannot be read is for the runner to judge."""
    headers: RawHeaders = tuple(record.headers)
    view = _view(headers)
    key, value = _text(record.key), record.value if record.value is not None else b""
    topic = record.topic.removeprefix(prefix)
    whole = record.key == key.encode() and record.value is not None and [*headers] == [(name, text.encode()) for name, text in view.items()]
    made = Record(topic, key, value, view) if whole else RawRecord(topic, key, value, view, record.key, record.value, headers)
    return Delivery(made, record.partition, record.offset, datetime.fromtimestamp(record.timestamp / 1000, UTC))


def _view(headers: Iterable[tuple[str, bytes | None]]) -> dict[str, str]:
    return {name: _text(value) for name, value in headers}


def _text(value: bytes | None) -> str:
    """Text for people and for stores, which refuse the zero character."""
    return (value or b"").decode(errors="replace").replace("\0", UNREADABLE)

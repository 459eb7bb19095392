from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest
from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import MalformedEvent, UnknownEventVersion
from eunoe_contracts.events import BODY_TYPES, HEADER_TENANT, HEADER_VERSION, Record, decode, document_event, encode


def accepted(document: str | None = None) -> Record:
    body = events_pb2.DocumentAccepted(tenant="t", document_id=document or str(uuid4()), generation=2)
    return encode(document_event(topics.DOCUMENT_ACCEPTED, body))


def test_round_trip() -> None:
    record = accepted()
    event = decode(record)
    assert encode(event) == record
    assert event.generation == 2
    assert event.key == f"t/{event.document}"


def test_same_cause_same_id_and_salt_makes_another() -> None:
    body = events_pb2.DocumentAccepted(tenant="t", document_id=str(uuid4()), generation=1)
    one = document_event(topics.DOCUMENT_ACCEPTED, body)
    assert one.id == document_event(topics.DOCUMENT_ACCEPTED, body).id
    assert one.id != document_event(topics.DOCUMENT_ACCEPTED, body, salt="again").id


def test_every_topic_has_a_body() -> None:
    assert set(BODY_TYPES) == set(topics.ALL)


@pytest.mark.parametrize(
    "broken",
    [
        replace(accepted(), value=b"\xff\xff\xff"),
        replace(accepted(), headers={}),
        replace(accepted(), headers={**accepted().headers, HEADER_TENANT: "other"}),
        accepted("not a uuid"),
        replace(accepted(), topic="eunoe.unheard.of.v1"),
    ],
)
def test_garbage_is_malformed(broken: Record) -> None:
    with pytest.raises(MalformedEvent):
        decode(broken)


def test_a_future_version_is_named() -> None:
    record = accepted()
    with pytest.raises(UnknownEventVersion):
        decode(replace(record, headers={**record.headers, HEADER_VERSION: "99"}))

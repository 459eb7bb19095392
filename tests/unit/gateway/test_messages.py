"""Turns of a conversation."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from eunoe.v1 import ingest_pb2
from eunoe_contracts.errors import EmptyContent, InvalidField
from eunoe_gateway.protobuf import struct, timestamp


async def test_turns_of_a_conversation_are_one_document_each(world: Any) -> None:
    sent = datetime(2026, 2, 3, 4, 5, tzinfo=UTC)
    request = ingest_pb2.AddMessagesRequest(
        container="chat",
        session_id="s1",
        messages=[
            ingest_pb2.Message(speaker="Ann", text="Yes.", sent_at=timestamp(sent)),
            ingest_pb2.Message(speaker="Bob", text="No.", metadata=struct({"mood": "bad"})),
            ingest_pb2.Message(speaker="Ann", text="Yes."),
        ],
    )
    answer = await world.gateway.add_messages(world.who, request)
    assert len({each.id for each in answer.acceptances}) == 3
    again = await world.gateway.add_messages(world.who, request)
    assert all(each.deduplicated for each in again.acceptances)
    rows = [await world.row(each.id) for each in answer.acceptances]
    assert [each.metadata["position"] for each in rows] == [0, 1, 2]
    assert rows[0].metadata == {"session": "s1", "position": 0, "speaker": "Ann", "date": "2026-02-03"}
    assert rows[0].event_time == sent
    assert rows[1].metadata["mood"] == "bad"


@pytest.mark.parametrize(
    ("session", "texts", "error"), [("", ["x"], InvalidField), ("s", [], EmptyContent), ("s", ["x", " "], EmptyContent)]
)
async def test_a_bad_turn_refuses_the_whole_call(world: Any, session: str, texts: list[str], error: type[Exception]) -> None:
    messages = [ingest_pb2.Message(text=each) for each in texts]
    with pytest.raises(error):
        await world.gateway.add_messages(world.who, ingest_pb2.AddMessagesRequest(session_id=session, messages=messages))
    assert await world.nothing_left()

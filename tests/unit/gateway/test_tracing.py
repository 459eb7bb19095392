"""One trace from the call to everything that it causes, also what is made again later."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from eunoe.v1 import admin_pb2, ingest_pb2, memory_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.stages import Stage
from eunoe_contracts.trace import parse
from eunoe_gateway import tracing
from eunoe_telemetry.testing import SequentialIds

ID = "4bf92f3577b34da6a3ce929d0e0e4736"
GIVEN = f"00-{ID}-00f067aa0ba902b7-00"


@pytest.fixture(autouse=True)
def no_call() -> Iterator[None]:
    before = tracing._TRACE.set("")
    yield
    tracing._TRACE.reset(before)


def traces(world: Any, topic: str) -> list[str]:
    return [found.id if (found := parse(each.trace)) else each.trace for each in world.events(topic)]


def called(*given: str) -> None:
    tracing.enter(given, SequentialIds())


async def test_an_acceptance_goes_on_with_the_callers_trace_as_a_step_of_its_own(world: Any) -> None:
    called(GIVEN)
    await world.post()
    (event,) = world.events(topics.DOCUMENT_ACCEPTED)
    found = parse(event.trace)
    assert found is not None
    assert (found.id, found.flags) == (ID, 0)
    assert found.parent not in GIVEN


@pytest.mark.parametrize("given", [(), ("nonsense",), (GIVEN, GIVEN)])
async def test_without_a_usable_header_a_trace_is_begun_and_all_turns_of_a_call_share_it(world: Any, given: tuple[str, ...]) -> None:
    called(*given)
    turns = [ingest_pb2.Message(speaker="Ada", text=text) for text in ("One.", "Two.")]
    await world.gateway.add_messages(world.who, ingest_pb2.AddMessagesRequest(container="c", session_id="s", messages=turns))
    one, two = traces(world, topics.DOCUMENT_ACCEPTED)
    assert one == two
    assert len(one) == 32
    assert one != ID


async def test_a_call_that_comes_through_no_door_begins_one(world: Any) -> None:
    await world.post()
    (found,) = traces(world, topics.DOCUMENT_ACCEPTED)
    assert len(found) == 32


async def test_the_sweeper_keeps_it(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def down(*_: Any) -> None:
        raise StoreUnavailable

    called(GIVEN)
    with monkeypatch.context() as patch:
        patch.setattr(world.log, "publish", down)
        await world.post()
    called()
    world.clock.advance(16)
    await world.sweeper.sweep()
    assert traces(world, topics.DOCUMENT_ACCEPTED) == [ID]


async def test_the_dead_letter_shows_it_and_a_replay_keeps_it(world: Any) -> None:
    called(GIVEN)
    accepted = await world.post("Alice likes tea.")
    called()
    await world.process(accepted.id, failing={Stage.EMBED: "x"})
    await world.gateway.replay(world.who, admin_pb2.ReplayRequest(code="x"))
    assert set(traces(world, topics.DOCUMENT_EXTRACTED)) == {ID}


async def test_a_new_generation_has_the_trace_of_its_own_call(world: Any) -> None:
    accepted = await world.post()
    await world.process(accepted.id, failing={Stage.EXTRACT: "x"})
    called(GIVEN)
    await world.post()
    first, second = traces(world, topics.DOCUMENT_ACCEPTED)
    assert first != second == ID


async def test_erasing_and_editing_carry_the_trace_of_their_own_call(world: Any) -> None:
    accepted = await world.post("Alice likes tea.")
    await world.process(accepted.id)
    called(GIVEN)
    (memory,) = (await world.gateway.list_memories(world.who, memory_pb2.ListMemoriesRequest())).memories
    await world.gateway.update_memory(world.who, memory_pb2.UpdateMemoryRequest(id=memory.id, tags=["x"]))
    await world.gateway.delete_document(world.who, accepted.id)
    assert traces(world, topics.MEMORY_CHANGED) == [ID]
    assert traces(world, topics.DOCUMENT_ERASED) == [ID]


async def test_calls_at_the_same_time_have_each_their_own(world: Any) -> None:
    async def call(trace: str, text: str) -> None:
        called(trace)
        await asyncio.sleep(0)
        await world.post(text)

    ids = [f"{number:032x}" for number in range(1, 9)]
    await asyncio.gather(*(call(f"00-{each}-00f067aa0ba902b7-01", f"Text {each}.") for each in ids))
    assert sorted(traces(world, topics.DOCUMENT_ACCEPTED)) == ids

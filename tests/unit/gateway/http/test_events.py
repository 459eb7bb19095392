"""`/v1/documents/{id}/events` on a real connection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from eunoe_contracts.stages import Stage
from eunoe_telemetry.testing import eventually

NOTE = {"content": "Alice likes tea.", "container": "team.notes"}


class Stream:
    """A client's view of an event stream."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self._lines = answer.aiter_lines()
        self.comments = 0

    async def event(self) -> tuple[str, str, Any] | None:
        """(event, id, data); None at the end of the stream."""
        found: dict[str, str] = {}
        async with asyncio.timeout(10):
            async for line in self._lines:
                if line.startswith(":"):
                    self.comments += 1
                elif line:
                    name, _, value = line.partition(": ")
                    found[name] = value
                elif found:
                    return found["event"], found.get("id", ""), json.loads(found["data"])
        return None

    async def rest(self) -> list[tuple[str, str, Any]]:
        events = []
        while (event := await self.event()) is not None:
            events.append(event)
        return events


@asynccontextmanager
async def serving(door: Any, **changes: Any) -> AsyncIterator[httpx.AsyncClient]:
    token = await door.token("admin")
    async with (
        door.listening(**changes) as url,
        httpx.AsyncClient(base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=10) as client,
    ):
        yield client


@asynccontextmanager
async def watching(client: httpx.AsyncClient, identity: str, **headers: str) -> AsyncIterator[Stream]:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    async with client.stream("GET", f"/v1/documents/{identity}/events", headers=given) as answer:
        yield Stream(answer)


async def test_the_stream_tells_every_state_and_ends_with_the_document(door: Any) -> None:
    async with serving(door) as client:
        identity = (await client.post("/v1/documents", json=NOTE)).json()["id"]
        async with watching(client, identity) as stream:
            assert stream.answer.headers["content-type"].startswith("text/event-stream")
            assert stream.answer.headers["cache-control"] == "no-store"
            first = await stream.event()
            await door.world.process(identity)
            rest = await stream.rest()
    assert first is not None
    assert (first[0], first[2]["status"]) == ("status", "queued")
    assert rest[-1][2]["status"] == "done"
    revisions = [int(each[1]) for each in (first, *rest)]
    assert revisions == sorted(set(revisions))
    assert [each[2]["revision"] for each in (first, *rest)] == revisions


async def test_an_ended_document_is_told_once(door: Any) -> None:
    async with serving(door) as client:
        identity = (await client.post("/v1/documents", json=NOTE)).json()["id"]
        await door.world.process(identity)
        async with watching(client, identity) as stream:
            assert [each[2]["status"] for each in await stream.rest()] == ["done"]


async def test_a_client_goes_on_where_it_was(door: Any) -> None:
    async with serving(door) as client:
        identity = (await client.post("/v1/documents", json=NOTE)).json()["id"]
        async with watching(client, identity) as stream:
            seen = await stream.event()
        assert seen is not None
        await door.world.stage(identity, Stage.EXTRACT)
        async with watching(client, identity, last_event_id=seen[1]) as stream:
            following = await stream.event()
            assert following is not None
            assert int(following[1]) > int(seen[1])
            await door.world.process(identity)
            last = (await stream.rest())[-1]
        over = await client.get(f"/v1/documents/{identity}/events", headers={"last-event-id": last[1]})
    assert (over.status_code, over.content) == (204, b"")  # an EventSource does not come back after this


async def test_silence_is_filled_with_comments(door: Any) -> None:
    async with serving(door, keep_alive_s=0.02) as client:
        identity = (await client.post("/v1/documents", json=NOTE)).json()["id"]
        async with watching(client, identity) as stream:
            assert await stream.event() is not None
            waiting = asyncio.create_task(stream.event())
            await eventually(lambda: stream.comments >= 3)
            assert not waiting.done()
            await door.world.process(identity)
            assert await waiting is not None


async def test_headers_come_at_once_even_when_there_is_nothing_new(door: Any) -> None:
    async with serving(door) as client:
        identity = (await client.post("/v1/documents", json=NOTE)).json()["id"]
        revision = (await client.get(f"/v1/documents/{identity}")).json()["revision"]
        async with asyncio.timeout(5), watching(client, identity, last_event_id=str(revision)) as stream:
            assert stream.answer.status_code == 200


async def test_a_reader_that_leaves_is_forgotten(door: Any) -> None:
    left = asyncio.Event()
    application = door.application
    watch = application.watch_document

    async def watched(*args: Any, **named: Any) -> AsyncIterator[Any]:
        try:
            async for each in watch(*args, **named):
                yield each
        finally:
            left.set()

    application.watch_document = watched
    async with serving(door) as client:
        identity = (await client.post("/v1/documents", json=NOTE)).json()["id"]
        async with watching(client, identity) as stream:
            assert await stream.event() is not None
        async with asyncio.timeout(5):
            await left.wait()
        assert (await client.get("/health")).status_code == 200


async def test_erasure_ends_the_stream_with_a_reason(door: Any) -> None:
    async with serving(door) as client:
        identity = (await client.post("/v1/documents", json=NOTE)).json()["id"]
        async with watching(client, identity) as stream:
            assert await stream.event() is not None
            await client.delete(f"/v1/documents/{identity}")
            rest = await stream.rest()
    assert [(name, data["code"]) for name, _, data in rest] == [("failure", "document_not_found")]


async def test_a_defect_in_the_middle_is_named_without_its_message(door: Any) -> None:
    watch = door.application.watch_document

    async def broken(*args: Any, **named: Any) -> AsyncIterator[Any]:
        async for each in watch(*args, **named):
            yield each
            raise ValueError("the secret text")

    door.application.watch_document = broken
    async with serving(door) as client:
        identity = (await client.post("/v1/documents", json=NOTE)).json()["id"]
        async with watching(client, identity) as stream:
            rest = await stream.rest()
    assert [each[0] for each in rest] == ["status", "failure"]
    assert rest[1][2]["code"] == "internal_error"
    assert "secret" not in str(rest)


@pytest.mark.parametrize("given", ["-1", "1.5", "abc", "9" * 30, "1 2", "+1"])
async def test_a_strange_last_event_id_is_refused(client: httpx.AsyncClient, given: str) -> None:
    identity = (await client.post("/v1/documents", json=NOTE)).json()["id"]
    answer = await client.get(f"/v1/documents/{identity}/events", headers={"last-event-id": given})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_field")

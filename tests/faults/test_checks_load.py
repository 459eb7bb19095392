"""Checks 9, 25, 27, 28 and 30 of the fault list: hogs, floods, a full disk, a storm of restarts, and what health says of them."""

from __future__ import annotations

import asyncio
import gc
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from unittest.mock import patch
from uuid import UUID

import httpx
import psutil
import pytest
from eunoe_contracts.errors import GrpcStatus, QueueFull, StoreUnavailable
from eunoe_contracts.stages import DocumentStatus
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_extractor.parsed import ParsedDocument
from eunoe_gateway.http.app import build_http
from eunoe_safety.sandbox.limits import Limits
from eunoe_safety.sandbox.pool import WorkerPool
from eunoe_standalone import testing_pipeline
from eunoe_standalone.audit import audit
from eunoe_standalone.data_directory import DataDirectory
from eunoe_standalone.testing_pipeline import Call, FastClock, Pipeline, PlainParsers, faulty, pipeline
from eunoe_standalone.testing_state import state_of

NO_SWEEPER = {"sweep_after_s": 36_000.0}
MIB = 1024 * 1024


@asynccontextmanager
async def http(running: Pipeline) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the HTTP door of the pipeline."""
    app = build_http(running.parts.application, metrics=running.parts.metrics, ids=running.parts.ids, is_loopback=True)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1:8080", timeout=30) as client:
        yield client


class HoggingParsers:
    """Takes the place of the parsers: a name that starts with `hog` burns a parser process until its time is over."""

    def __init__(self, *_: object) -> None:
        self._pool = WorkerPool(Limits(wall_s=1.5, cpu_s=5.0), 1, (), None)
        self._plain = PlainParsers().parser
        self.parser = self

    async def __aenter__(self) -> Self:
        await self._pool.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._pool.stop()

    async def parse(self, path: Path, *, format_id: str, name: str) -> ParsedDocument:
        if name.startswith("hog"):
            await self._pool.run("eunoe_safety.sandbox.testing:burn")
        return await self._plain.parse(path, format_id=format_id, name=name)

    async def probe(self) -> tuple[bool, str]:
        return True, ""


async def test_check_09_a_parser_that_burns_its_time_leaves_the_server_alive(tmp_path: Path) -> None:
    """A document burns a CPU in its parser: the server answers all the while, other documents end, this one fails by its type."""
    slowest = 0.0
    with patch.object(testing_pipeline, "PlainParsers", HoggingParsers):
        async with pipeline(tmp_path, **NO_SWEEPER) as running, http(running) as client:
            hog = await running.post("Burn.", name="hog.txt")
            other = await running.post("The lake was cold.", name="lake.txt")
            await running.ended(other)
            row = await running.row(hog)
            while row is not None and not row.status.is_end:
                started = time.monotonic()
                assert (await client.get("/live")).status_code == 200
                slowest = max(slowest, time.monotonic() - started)
                await asyncio.sleep(0.01)
                row = await running.row(hog)
            assert row is not None
            assert (row.status, row.error_code) == (DocumentStatus.FAILED, "parser_timeout")
    assert slowest < 1.0


async def test_check_09_a_blocked_event_loop_loses_no_lease(tmp_path: Path) -> None:
    """Something blocks the whole loop for longer than every lease: afterwards all goes on, and nothing is computed twice."""
    clock, runs = FastClock(60), Counter[UUID]()

    async def catalogue(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "put_units":
            runs[args[1]] += 1
            if named["title"] == "hog":
                until_s = clock.monotonic() + 45  # longer than the 30 s of a lease
                while clock.monotonic() < until_s:
                    pass
        return await call(*args, **named)

    async with pipeline(tmp_path, wrap=faulty(catalogue=catalogue), clock=clock, **NO_SWEEPER) as running, http(running) as client:
        documents = [await running.post(f"Report {n}.", name=f"r{n}.txt") for n in range(8)]
        documents.append(await running.post("Burn.", name="hog.txt"))
        documents += [await running.post(f"Later {n}.", name=f"l{n}.txt") for n in range(8)]
        for each in documents:
            await running.ended(each)
        assert set(runs.values()) == {1}
        assert (await client.get("/live")).status_code == 200


async def test_check_25_a_producer_ten_times_faster_is_slowed_down(tmp_path: Path) -> None:
    """The consumers stand still while a producer goes on: the queue stays at its limit, the rest is told to come later (429,
    RESOURCE_EXHAUSTED), memory does not grow with the attempts, and what was acknowledged ends.
    """
    limit, attempts, at_work, most = 40, 400, 0, 0
    gate = asyncio.Event()

    async def catalogue(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        nonlocal at_work, most
        if name == "put_units":
            at_work += 1
            most = max(most, at_work)
            await gate.wait()
            at_work -= 1
        return await call(*args, **named)

    wrap = faulty(catalogue=catalogue)
    async with pipeline(tmp_path, wrap=wrap, queue_limit=limit, retry_after_s=7.0, **NO_SWEEPER) as running, http(running) as client:

        async def post(number: int) -> httpx.Response:
            body = {"content": f"Report {number}. " + "The water was cold. " * 1000, "container": "c", "name": f"r{number}.txt"}
            return await client.post("/v1/documents", json=body)

        accepted: list[str] = []
        refused: list[httpx.Response] = []
        before = 0
        for start in range(0, attempts, 20):
            for answer in await asyncio.gather(*(post(n) for n in range(start, start + 20))):
                accepted += [answer.json()["id"]] if answer.status_code == 202 else []
                refused += [answer] if answer.status_code != 202 else []
            if start == 100:  # full by now, and everything that is made once was made
                before = resident()
        assert len(accepted) == limit
        assert {(each.status_code, each.json()["code"], each.headers["retry-after"]) for each in refused} == {(429, "queue_full", "7")}
        assert QueueFull.grpc_status is GrpcStatus.RESOURCE_EXHAUSTED
        assert resident() - before < 16 * MIB
        assert most <= 12 * 2  # partitions, and documents in work in each
        gate.set()
        for each in accepted:
            await running.ended(UUID(each))
        assert (await post(attempts)).status_code == 202


def resident() -> int:
    gc.collect()
    return int(psutil.Process().memory_info().rss)


@asynccontextmanager
async def full_disk(running: Pipeline) -> AsyncIterator[None]:
    """The file of catalogue, log and graph cannot grow, as on a full disk or with a quota."""
    database: Any = running.stores.log._database

    async def limit_to(pages: int) -> None:
        await database.write(lambda connection: connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}").close())

    await limit_to(1)  # SQLite takes the present size then
    try:
        yield
    finally:
        await limit_to(1_000_000)


async def test_check_27_a_full_disk_refuses_new_work_serves_search_and_recovers(tmp_path: Path) -> None:
    """The disk fills up while work goes on: posts are refused with 507, search and liveness answer; with space again all that was
    acknowledged ends.
    """
    async with pipeline(tmp_path, clock=FastClock(40)) as running, http(running) as client:
        known = await running.post("The lake was cold.", name="lake.txt")
        await running.ended(known)
        acknowledged = []

        async def post(number: int) -> httpx.Response:
            text = f"Report {number}.\n\n" + "\n\n".join(f"Part {n} of {number}. " + "The water was clear. " * 90 for n in range(20))
            return await client.post("/v1/documents", json={"content": text, "container": "c", "name": f"r{number}.txt"})

        async with full_disk(running):
            for number in range(200):
                answer = await post(number)
                if answer.status_code != 202:
                    break
                acknowledged.append(UUID(answer.json()["id"]))
            assert (answer.status_code, answer.json()["code"]) == (507, "storage_full")
            assert await running.hits("lake") == [str(known)]
            assert (await client.get("/live")).status_code == 200
        for each in acknowledged:
            await running.ended(each, within_s=20)
        assert (await post(1000)).status_code == 202


async def test_check_27_below_the_low_mark_new_work_is_refused_before_anything_breaks(tmp_path: Path) -> None:
    """Below the mark for free space the server refuses by itself, says so in its readiness, and goes on by itself."""
    async with pipeline(tmp_path, **NO_SWEEPER) as running, http(running) as client:
        known = await running.post("The lake was cold.")
        await running.ended(known)
        with patch.object(DataDirectory, "free_bytes", lambda _: -1):
            refused = await client.post("/v1/documents", json={"content": "More.", "container": "c"})
            assert (refused.status_code, refused.json()["code"]) == (507, "storage_full")
            ready = await client.get("/ready")
            assert (ready.status_code, ready.json()["parts"]["disk"]["ok"]) == (503, False)
            assert await running.hits("lake") == [str(known)]
        assert (await client.post("/v1/documents", json={"content": "More.", "container": "c"})).status_code == 202
        assert (await client.get("/ready")).status_code == 200


LIVES = 10


@pytest.mark.parametrize("seed", [28])
async def test_check_28_a_storm_of_restarts_keeps_the_promise(tmp_path: Path, seed: int) -> None:
    """All stages are stopped and started again and again in the middle of their work: in the end every acknowledged item is done
    once, and the stores hold exactly what an undisturbed run makes.
    """
    draw = random.Random(seed)
    texts = {f"n{n}": f"The station has the mark word{n}.\n\nMy favourite colour is {n}." for n in range(3 * LIVES)}
    names, documents = list(texts), {}
    for _ in range(LIVES):
        async with pipeline(tmp_path / "storm", drain_s=0.0, **NO_SWEEPER) as running:
            for name in names[len(documents) : len(documents) + 3]:
                documents[name] = await running.post(texts[name], name=name)
            await asyncio.wait({asyncio.ensure_future(running.ended(documents[name], within_s=5))}, timeout=draw.random() * 0.25)
    async with pipeline(tmp_path / "storm", **NO_SWEEPER) as running:
        for each in documents.values():
            await running.ended(each)
        found = await audit(running.stores)
        assert (found.orphans, found.missing, found.miscounted, found.open) == ([], [], [], 0)
        after = await state_of(running)
    async with pipeline(tmp_path / "calm", **NO_SWEEPER) as running:
        for name, text in texts.items():
            assert await running.post(text, name=name) == documents[name]
        for each in documents.values():
            await running.ended(each)
        assert await state_of(running) == after


async def test_check_30_an_overloaded_server_is_not_ready_and_alive(tmp_path: Path) -> None:
    """At the queue's limit readiness fails and names the queue; when a store is down it names the store; liveness never fails."""
    gate, down = asyncio.Event(), False

    async def catalogue(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "put_units":
            await gate.wait()
        if down:
            raise StoreUnavailable
        return await call(*args, **named)

    async def store(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if down:
            raise StoreUnavailable
        return await call(*args, **named)

    wrap = faulty(catalogue=catalogue, vectors=store, graph=store)
    async with pipeline(tmp_path, wrap=wrap, queue_limit=5, clock=FastClock(20), **NO_SWEEPER) as running, http(running) as client:

        async def alive() -> None:
            for path in ("/live", "/health"):
                assert (await client.get(path)).status_code == 200

        assert (await client.get("/ready")).status_code == 200
        documents = [await running.post(f"Report {n}.", name=f"r{n}") for n in range(5)]
        ready = await client.get("/ready")
        assert ready.status_code == 503
        assert {name for name, part in ready.json()["parts"].items() if not part["ok"]} == {"queue"}
        assert "5 documents in work" in ready.json()["parts"]["queue"]["reason"]
        await alive()
        gate.set()
        for each in documents:
            await running.ended(each)
        assert (await client.get("/ready")).status_code == 200
        down = True
        broken = {name for name, part in (await client.get("/ready")).json()["parts"].items() if not part["ok"]}
        assert {"catalogue", "vector index", "graph"} <= broken
        await alive()
        down = False
        assert (await client.get("/ready")).status_code == 200
        assert await running.stores.vectors.count(DEFAULT_TENANT)

"""Checks 10 to 14 of the fault list: what is given up, what pauses instead, and what comes back."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from eunoe.v1 import admin_pb2, events_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import CapabilityUnavailable, StoreUnavailable
from eunoe_contracts.events import HEADER_EVENT_ID, HEADER_TENANT, HEADER_VERSION, Record, document_event, encode
from eunoe_contracts.stages import DocumentStatus
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_gateway.http.app import build_http
from eunoe_standalone import rendezvous
from eunoe_standalone.audit import audit
from eunoe_standalone.parts import load_parts
from eunoe_standalone.rendezvous import RunningServer
from eunoe_standalone.server import grpc_listener
from eunoe_standalone.testing_pipeline import OPERATOR, UNREADABLE, Call, FastClock, Pipeline, faulty, pipeline, until

EUNOE = str(Path(sys.executable).parent / "eunoe")
NO_SWEEPER = {"sweep_after_s": 36_000.0}
CONSUMED = {
    topics.DOCUMENT_ACCEPTED: ("extract",),
    topics.DOCUMENT_EXTRACTED: ("embedder", "propose", "graph"),
    topics.MEMORIES_PROPOSED: ("embedder",),
    topics.MEMORIES_EMBEDDED: ("graph",),
    topics.STAGE_FINISHED: ("finish",),
    topics.DOCUMENT_ERASED: ("embedder", "graph", "extract", "erase-gateway"),
    topics.MEMORY_CHANGED: ("embedder",),
}


def http(running: Pipeline) -> httpx.AsyncClient:
    """A client of the HTTP door of the pipeline."""
    app = build_http(running.parts.application, metrics=running.parts.metrics, ids=running.parts.ids, is_loopback=True)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1:8080")


async def letters(running: Pipeline, **conditions: Any) -> admin_pb2.DeadLettersResponse:
    return await running.parts.application.dead_letters(OPERATOR, admin_pb2.DeadLettersRequest(limit=1000, **conditions))


async def replay(running: Pipeline, **conditions: Any) -> admin_pb2.ReplayResponse:
    return await running.parts.application.replay(OPERATOR, admin_pb2.ReplayRequest(**conditions))


async def all_read(running: Pipeline) -> bool:
    """Every group has committed everything."""
    return not any([await running.stores.log.lag(topic, group) for topic, groups in CONSUMED.items() for group in groups])


async def test_check_10_the_first_record_is_poison_and_the_next_one_goes_on(tmp_path: Path) -> None:
    """A document that makes its stage fail at every try stands first: it is given up after its attempts, the next waits for nothing."""
    tries = 0

    async def catalogue(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        nonlocal tries
        if name == "put_units" and named["title"] == "poisoned":
            tries += 1
            raise ValueError("a defect that this document meets")
        return await call(*args, **named)

    async with pipeline(tmp_path, wrap=faulty(catalogue=catalogue), clock=FastClock(400), **NO_SWEEPER) as running:
        first = await running.post("The poisoned one.", name="poisoned.txt")
        following = [await running.post(f"A good one {n}.", name=f"next{n}") for n in range(3)]
        for each in following:
            await running.ended(each, within_s=5)
        await running.ended(first, DocumentStatus.FAILED, within_s=20)
        (letter,) = (await letters(running)).dead_letters
        assert (letter.document_id, letter.stage, letter.code, letter.attempts) == (str(first), "extract", "internal_error", 5)
        assert tries == 5
        assert letter.first_failed_at.ToDatetime() < letter.last_failed_at.ToDatetime()


class Deploy:
    """An index that refuses every write until it is repaired, as after a bad deploy."""

    def __init__(self) -> None:
        self.broken = True

    async def __call__(self, call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "upsert" and self.broken:
            raise CapabilityUnavailable
        return await call(*args, **named)


def paused(running: Pipeline) -> float | None:
    return running.parts.metrics.registry.get_sample_value("eunoe_stage_paused", {"stage": "embed"})


@asynccontextmanager
async def found_by_commands(running: Pipeline, data_dir: Path) -> AsyncIterator[None]:
    """A gRPC door that `eunoe` commands find, as that of `eunoe serve`."""
    async with grpc_listener(running.parts, load_parts(), "127.0.0.1:0", is_loopback=True) as port:
        address = f"127.0.0.1:{port}"
        rendezvous.publish(data_dir, RunningServer(os.getpid(), address, address, "", "test"))
        yield
        rendezvous.withdraw(data_dir)


async def command(*words: str) -> tuple[int, str]:
    """Exit code and standard output of an `eunoe` command."""
    started = await asyncio.create_subprocess_exec(EUNOE, *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    out, _ = await started.communicate()
    return started.returncode or 0, out.decode()


async def test_check_11_a_bad_deploy_pauses_the_stage_says_so_and_resumes(tmp_path: Path) -> None:
    """Every item fails for a reason that is not its own: few dead letters, the rest waits, `/ready`, metrics and doctor tell.

    After the repair the stage goes on by itself, and a replay brings the few back: nothing is lost.
    """
    deploy = Deploy()
    async with pipeline(tmp_path, wrap=faulty(vectors=deploy), clock=FastClock(30), **NO_SWEEPER) as running, http(running) as client:
        documents = [await running.post(f"Report {n} of the valley.", name=f"r{n}") for n in range(60)]

        async def is_paused() -> bool:
            return paused(running) == 1

        await until(is_paused, what=lambda: "not paused")

        async def is_not_ready() -> bool:
            return (await client.get("/ready")).status_code == 503

        await until(is_not_ready)
        ready = (await client.get("/ready")).json()
        assert ready["parts"]["workers"] == {"ok": False, "reason": "embedder is paused after failures (capability_unavailable)"}
        assert (await client.get("/live")).status_code == 200
        assert 'eunoe_stage_paused{stage="embed"} 1.0' in (await client.get("/metrics")).text
        async with found_by_commands(running, tmp_path):
            code, out = await command("doctor", "--data-dir", str(tmp_path), "--json")
        findings = {each["name"]: each for each in json.loads(out)}
        assert code == 3
        assert findings["server: workers"]["reason"] == ready["parts"]["workers"]["reason"]
        dead = (await letters(running)).total
        assert 1 <= dead <= 25
        more = [await running.post(f"More of {n}.", name=f"m{n}") for n in range(20)]

        async def lag_grows() -> bool:
            return await running.stores.log.lag(topics.DOCUMENT_EXTRACTED, "embedder") >= 40

        await until(lag_grows, what=lambda: "no lag")
        assert (await letters(running)).total == dead
        deploy.broken = False

        async def goes_on() -> bool:
            return paused(running) == 0

        await until(goes_on, within_s=20, what=lambda: "still paused")
        await until(lambda: all_read(running), within_s=10)
        assert (await replay(running, code="capability_unavailable")).replayed == dead
        for each in [*documents, *more]:
            await running.ended(each)
        assert (await client.get("/ready")).status_code == 200


@pytest.mark.parametrize("failing", ["topic", "row"])
async def test_check_12_a_dead_letter_that_cannot_be_written_holds_the_offset(tmp_path: Path, failing: str) -> None:
    """While the dead letter (its row, or its record) cannot be written, the record stays uncommitted; later there is one letter."""
    broken, refused = True, 0

    async def refuse_dead(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        nonlocal refused
        topic = name == "publish" and any(each.topic.endswith(".dead") for each in args[0])
        if broken and (topic if failing == "topic" else name == "exhaust"):
            refused += 1
            raise StoreUnavailable
        return await call(*args, **named)

    wrap = faulty(log=refuse_dead, catalogue=refuse_dead)
    async with pipeline(tmp_path, wrap=wrap, clock=FastClock(10), **NO_SWEEPER) as running:
        document = await running.post(f"{UNREADABLE} page")

        async def refused_often() -> bool:
            return refused >= 4

        await until(refused_often, what=lambda: "not refused")
        assert await running.stores.log.lag(topics.DOCUMENT_ACCEPTED, "extract") == 1
        broken = False
        await running.ended(document, DocumentStatus.FAILED)
        await until(lambda: all_read(running))
        (letter,) = (await letters(running)).dead_letters
        assert (letter.code, letter.attempts) == ("empty_extraction", 1)


async def test_check_13_a_second_replay_is_a_no_op_and_the_count_is_visible(tmp_path: Path) -> None:
    """Replayed once, the letters are gone from the list and nothing can be replayed again; each tells how often it was."""
    deploy = Deploy()
    async with pipeline(tmp_path, wrap=faulty(vectors=deploy), **NO_SWEEPER) as running, http(running) as client:
        documents = [await running.post(f"Report {n}.", name=f"r{n}") for n in range(3)]
        for each in documents:
            await running.ended(each, DocumentStatus.FAILED)
        assert (await replay(running, dry_run=True)).matched == 3
        deploy.broken = False
        first, second = await replay(running), await replay(running)
        assert (first.replayed, second.matched, second.replayed) == (3, 0, 0)
        assert (await replay(running, ids=list(first.ids))).replayed == 0
        for each in documents:
            await running.ended(each)
        assert (await letters(running)).total == 0
        shown = [(await client.get(f"/v1/dead-letters/{each}")).json() for each in first.ids]
        assert [(each["replays"], each["replayed_at"] is not None) for each in shown] == [(1, True)] * 3
        found = await audit(running.stores)
        assert (found.orphans, found.missing, found.miscounted) == ([], [], [])


def damaged(topic: str) -> dict[str, Record]:
    """Records that no program of this version can read, by the code that they end with."""
    body = events_pb2.DocumentAccepted(tenant=DEFAULT_TENANT, document_id=str(uuid4()), generation=1)
    good = encode(document_event(topics.DOCUMENT_ACCEPTED, body))
    headers = dict(good.headers)
    return {
        "garbage": Record(topic, good.key, b"\xff\x00\xfe" * 50, headers | {HEADER_EVENT_ID: str(uuid4())}),
        "no headers": Record(topic, good.key, good.value, {}),
        "no version": Record(topic, good.key, good.value, {HEADER_EVENT_ID: str(uuid4()), HEADER_TENANT: DEFAULT_TENANT}),
        "future": Record(topic, good.key, good.value, headers | {HEADER_VERSION: "99", HEADER_EVENT_ID: str(uuid4())}),
        "two tenants": Record(topic, good.key, good.value, headers | {HEADER_TENANT: "other", HEADER_EVENT_ID: str(uuid4())}),
    }


async def test_check_14_unreadable_records_become_dead_letters_with_a_code(tmp_path: Path) -> None:
    """Garbage, missing headers and a future version on every topic: each ends in the dead letters, and work goes on."""
    async with pipeline(tmp_path, **NO_SWEEPER) as running:
        bad = {topic: damaged(topic) for topic in CONSUMED}
        await running.stores.log.publish([record for records in bad.values() for record in records.values()])
        document = await running.post("A good one.")
        await running.ended(document)
        await until(lambda: all_read(running), what=lambda: "a record is never committed")
        found = (await letters(running)).dead_letters
        assert {each.code for each in found} == {"malformed_event", "unknown_event_version"}
        groups = {(topic, group) for topic, names in CONSUMED.items() for group in names}
        assert {(each.topic, each.stage) for each in found} == groups
        assert sum(each.code == "unknown_event_version" for each in found) == len(groups)
        # There is nothing that could run again: a replay leaves them, and does not fail.
        assert (await replay(running)).replayed == 0
        assert (await running.ended(document)).revision

"""A process on stores in memory: its admin port, its start, its stop."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from eunoe_contracts import topics
from eunoe_contracts.errors import ConfigurationError, StoreUnavailable
from eunoe_contracts.events import Event
from eunoe_process.config import InternalSettings, ProcessSettings
from eunoe_process.exit_codes import ExitCode
from eunoe_process.program import Assembly, Program, Surroundings
from eunoe_process.run import loaded, owners_of
from eunoe_process.running import run
from eunoe_process.stopping import Stop
from eunoe_process.stores import StoreName, Unreachable
from eunoe_process.testing import ready_made
from eunoe_stores.catalogue.testing import open_memory_catalogue
from eunoe_stream.subscription import Background, Service, Subscription
from eunoe_stream.testing import MemoryLog
from eunoe_telemetry.clock import RandomIds, SystemClock


class Parts:
    """A program of one subscription and one background task; notes what happens to it."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    @asynccontextmanager
    async def assemble(self, at: Surroundings) -> AsyncIterator[Assembly]:
        async def handle(_event: Event) -> Sequence[Event]:
            return []

        async def beside() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                self.seen.append("background cancelled")

        async def finish() -> None:
            self.seen.append("finished")

        async def part() -> tuple[bool, str]:
            return "broken" not in self.seen, "as you wish"

        at.probes["part"] = part
        service = Service("x", (Subscription(topics.DOCUMENT_ACCEPTED, "extract", handle),), background=(Background("b", beside),))
        yield Assembly((service,), finish=finish)
        self.seen.append("taken apart")

    @property
    def program(self) -> Program:
        return Program("eunoe-x", "A test.", 0, frozenset({StoreName.CATALOGUE, StoreName.LOG}), (), self.assemble)


@asynccontextmanager
async def running(folder: Path, parts: Parts) -> AsyncIterator[tuple[httpx.AsyncClient, Stop]]:
    clock, ids, stop = SystemClock(), RandomIds(), Stop()
    up: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()
    async with open_memory_catalogue(folder) as catalogue:
        kinds = ready_made(catalogue=catalogue, log=MemoryLog(clock=clock, ids=ids))(parts.program.stores)
        settings = loaded(parts.program, owners_of(parts.program, kinds))
        task = asyncio.create_task(run(parts.program, settings, kinds, stop=stop, clock=clock, ids=ids, on_up=up.set_result))
        await asyncio.wait({task, up}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
        async with httpx.AsyncClient(base_url=(await up)["admin"]) as client:
            yield client, stop
        stop.request()
        await task


async def test_probes_and_metrics_on_the_admin_port(tmp_path: Path) -> None:
    parts = Parts()
    async with running(tmp_path, parts) as (client, _):
        assert (await client.get("/live")).json()["live"] is True
        assert (await client.get("/serving")).json() == {"serving": True, "phase": "serving"}
        ready = await client.get("/ready")
        assert ready.status_code == 200
        assert set(ready.json()["parts"]) == {"part", "workers", "catalogue", "log"}
        assert "eunoe_build_info" in (await client.get("/metrics")).text
        assert (await client.get("/elsewhere")).status_code == 404
        assert (await client.post("/live")).status_code == 405
        assert (await client.head("/live")).content == b""
        parts.seen.append("broken")
        broken = await client.get("/ready")
        assert broken.status_code == 503
        assert broken.json()["parts"]["part"] == {"ok": False, "reason": "as you wish"}
        assert (await client.get("/serving")).status_code == 200  # a part that is not ready takes no traffic away
    assert parts.seen[1:] == ["background cancelled", "finished", "taken apart"]


async def test_a_store_that_is_away_at_start_is_named(tmp_path: Path) -> None:
    parts = Parts()
    kinds = ready_made(catalogue=StoreUnavailable("no connection"))(parts.program.stores)
    settings = loaded(parts.program, owners_of(parts.program, kinds))
    with pytest.raises(Unreachable, match="the catalogue cannot be reached: no connection"):
        await run(parts.program, settings, kinds, stop=Stop(), clock=SystemClock(), ids=RandomIds())
    assert parts.seen == []


async def test_a_store_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from eunoe_process.stores import StoreKind, open_stores

    @asynccontextmanager
    async def hanging(*_: Any) -> AsyncIterator[Any]:
        await asyncio.Event().wait()
        yield None

    with pytest.raises(Unreachable, match=r"did not answer within 0\.05 s"):
        async with open_stores(
            {StoreName.LOG}, {StoreName.LOG: StoreKind(None, hanging)}, {}, clock=SystemClock(), ids=RandomIds(), within_s=0.05
        ):
            raise AssertionError("never")


async def test_only_what_was_asked_for_is_there(tmp_path: Path) -> None:
    from eunoe_process.stores import Stores

    with pytest.raises(LookupError, match="did not ask for the blobs"):
        _ = Stores({}).blobs


async def test_a_taken_admin_port_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(tmp_path, Parts()) as (client, _):
        monkeypatch.setenv("EUNOE_PROCESS__ADMIN", f"127.0.0.1:{client.base_url.port}")
        parts = Parts()
        kinds = ready_made()(parts.program.stores)
        settings = loaded(parts.program, owners_of(parts.program, kinds))
        with pytest.raises(ConfigurationError, match="cannot listen on"):
            await run(parts.program, settings, kinds, stop=Stop(), clock=SystemClock(), ids=RandomIds())


SCRIPT = """
import asyncio, json, sys
from contextlib import asynccontextmanager
from eunoe_process.program import Assembly, Program
from eunoe_process.run import run_process
from eunoe_process.stores import StoreName
from eunoe_process.testing import ready_made

@asynccontextmanager
async def assemble(at):
    async def finish():
        if "hang" in sys.argv:
            print("hanging", file=sys.stderr, flush=True)
            await asyncio.Event().wait()
    if "slow" in sys.argv:
        print(json.dumps({"event": "starting"}), file=sys.stderr, flush=True)
        await asyncio.Event().wait()
    yield Assembly((), finish=finish)

sys.exit(run_process(Program("eunoe-x", "A test.", 0, frozenset(), (), assemble), [], kinds=ready_made()))
"""


def started(*arguments: str, wait_for: str = "serving") -> subprocess.Popen[str]:
    environment = {**os.environ, "EUNOE_PROCESS__LOG_FORMAT": "json"}
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, *arguments], env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert json.loads(process.stderr.readline())["event"] == wait_for
    return process


def test_a_signal_before_it_serves_does_not_wait_for_the_start() -> None:
    process = started("slow", wait_for="starting")
    process.send_signal(signal.SIGTERM)
    with process:
        assert process.wait(20) == ExitCode.OK


def test_a_signal_stops_in_order() -> None:
    process = started()
    process.send_signal(signal.SIGTERM)
    assert process.stderr is not None
    with process:
        assert '"stopping"' in process.stderr.read()
        assert process.wait(20) == ExitCode.OK


def test_a_second_signal_ends_at_once() -> None:
    process = started("hang")
    process.send_signal(signal.SIGTERM)
    assert process.stderr is not None
    with process:
        while "hanging" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == ExitCode.FAILED


def test_settings_of_a_process_have_their_defaults() -> None:
    assert ProcessSettings().admin == ""
    assert InternalSettings().embedder == ("127.0.0.1:50052",)

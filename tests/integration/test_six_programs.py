"""The six programs on shared stores in memory, each with its own doors and settings, as six processes have them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import eunoe_embedder.main as embedder
import eunoe_extractor.main as extractor
import eunoe_gateway.main as gateway
import eunoe_graph.main as graph
import eunoe_llm_extractor.main as llm_extractor
import eunoe_search.main as search
import httpx
import pytest
from eunoe_models.artifacts import Loaded
from eunoe_models.testing import HashingEmbedder
from eunoe_process.program import Program
from eunoe_process.run import loaded, owners_of
from eunoe_process.running import run
from eunoe_process.stopping import Stop
from eunoe_process.stores import StoreName
from eunoe_process.testing import ready_made
from eunoe_standalone.testing_pipeline import until
from eunoe_stores.catalogue.testing import open_memory_catalogue
from eunoe_stores.testing import MemoryBlobStore, MemoryGraphStore, MemoryVectorIndex
from eunoe_stream.testing import MemoryLog
from eunoe_telemetry.clock import RandomIds, SystemClock

ANYWHERE = "127.0.0.1:0"
SECRET = "what the six of them know"
TEXT = "The lighthouse keeper counts the ships.\n\nHis lamp burns oil from the north."


class System:
    """Starts and stops programs by name; they find each other by the settings of the environment."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, stores: Mapping[str, Any]) -> None:
        self._monkeypatch = monkeypatch
        self._kinds = ready_made(**stores)
        self._running: dict[str, tuple[Stop, asyncio.Task[None]]] = {}
        self.addresses: dict[str, Mapping[str, str]] = {}

    async def start(self, program: Program, **settings: str) -> None:
        for name, value in settings.items():
            self._monkeypatch.setenv(name, value)
        stop = Stop()
        up: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()
        kinds = self._kinds(program.stores)
        given = loaded(program, owners_of(program, kinds))
        task = asyncio.create_task(run(program, given, kinds, stop=stop, clock=SystemClock(), ids=RandomIds(), on_up=up.set_result))
        await asyncio.wait({up, task}, return_when=asyncio.FIRST_COMPLETED)
        if not up.done():
            await task
        self._running[program.name] = stop, task
        self.addresses[program.name] = await up

    async def stop(self, name: str) -> None:
        stop, task = self._running.pop(name)
        stop.request()
        await task

    async def stop_all(self) -> None:
        for name in list(self._running):
            await self.stop(name)

    async def ready(self, name: str) -> dict[str, Any]:
        async with httpx.AsyncClient() as client:
            answer: dict[str, Any] = (await client.get(f"{self.addresses[name]['admin']}/ready")).json()
            return answer

    @asynccontextmanager
    async def door(self) -> AsyncIterator[httpx.AsyncClient]:
        async with httpx.AsyncClient(base_url=self.addresses["eunoe-gateway"]["http"]) as client:
            yield client


async def ingested(door: httpx.AsyncClient, text: str = TEXT) -> str:
    answer = await door.post("/v1/documents", json={"content": text, "container": "notes"})
    assert answer.status_code == 202, answer.text
    document: str = answer.json()["id"]

    async def done() -> bool:
        found = (await door.get(f"/v1/documents/{document}")).json()
        assert found["status"] != "failed", found
        return bool(found["status"] == "done")

    await until(done, within_s=20)
    return document


@pytest.fixture
async def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[System]:
    model = HashingEmbedder()
    monkeypatch.setattr(embedder, "require_embedder", lambda *_, **__: Loaded(model, model.counter))
    monkeypatch.setattr(extractor, "load_counter", lambda _: model.counter)
    monkeypatch.setattr(search, "profile_of", lambda _: model.profile)
    clock = SystemClock()
    async with open_memory_catalogue(tmp_path) as catalogue:
        stores = {
            "catalogue": catalogue,
            "blobs": MemoryBlobStore(now=clock.now),
            "vectors": MemoryVectorIndex(),
            "graph": MemoryGraphStore(),
            "log": MemoryLog(clock=clock, ids=RandomIds(), poll_s=0.05),
        }
        made = System(monkeypatch, stores)
        everywhere = {
            "EUNOE_PROCESS__ADMIN": ANYWHERE,
            "EUNOE_PROCESS__GRPC": ANYWHERE,
            "EUNOE_PROCESS__DRAIN_S": "2",
            "EUNOE_INTERNAL__SECRET": SECRET,
        }
        try:
            await made.start(embedder.PROGRAM, **everywhere)
            await made.start(search.PROGRAM, EUNOE_INTERNAL__EMBEDDER=made.addresses["eunoe-embedder"]["grpc"])
            for each in (extractor.PARSE, llm_extractor.PROGRAM, graph.PROGRAM):
                await made.start(each)
            doors = {"EUNOE_SERVER__HTTP": ANYWHERE, "EUNOE_SERVER__GRPC": ANYWHERE}
            await made.start(gateway.PROGRAM, EUNOE_INTERNAL__SEARCH=made.addresses["eunoe-search"]["grpc"], **doors)
            yield made
        finally:
            await made.stop_all()


async def question(door: httpx.AsyncClient, **fields: Any) -> httpx.Response:
    return await door.post("/v1/search", json={"query": "lighthouse keeper", "container": "notes", **fields})


async def test_a_document_goes_through_all_and_is_found_by_its_vector(system: System) -> None:
    async with system.door() as door:
        document = await ingested(door)
        answer = (await question(door, mode="vector")).json()
        assert answer["degraded"] == []
        assert answer["results"][0]["document_id"] == document
        assert (await question(door)).json()["results"][0]["document_id"] == document
        assert (await door.delete(f"/v1/documents/{document}")).status_code == 200
        assert (await question(door)).json()["results"] == []
        ready = (await door.get("/ready")).json()
        assert ready["ready"], ready
        assert set(ready["parts"]) == {"catalogue", "blobs", "vector index", "graph", "log", "search", "workers"}
    for name in system.addresses:
        assert (await system.ready(name))["ready"], name


async def test_errors_of_search_reach_the_caller_as_they_are(system: System) -> None:
    async with system.door() as door:
        answer = await question(door, filters={"colour": "red"})
        assert (answer.status_code, answer.json()["code"]) == (422, "unknown_filter")
        assert (await question(door, query=" ")).json()["code"] == "empty_content"


async def test_without_the_embedder_words_answer_and_it_is_said(system: System) -> None:
    async with system.door() as door:
        document = await ingested(door)
        await system.stop("eunoe-embedder")
        answer = (await question(door)).json()
        assert answer["degraded"] == ["dense"]
        assert answer["results"][0]["document_id"] == document
        ready = await system.ready("eunoe-search")
        assert not ready["ready"]
        assert "no answer from 127.0.0.1" in ready["parts"]["embedder"]["reason"]
        assert (await question(door, mode="vector")).json()["code"] == "store_unavailable"


async def test_fail_closed_refuses_what_is_not_whole(system: System) -> None:
    async with system.door() as door:
        await ingested(door)
        await system.stop("eunoe-search")
        at = system.addresses["eunoe-search"]["grpc"]
        await system.start(search.PROGRAM, EUNOE_SEARCH__FAIL_CLOSED="true", EUNOE_PROCESS__GRPC=at)
        assert (await question(door)).status_code == 200
        await system.stop("eunoe-embedder")
        answer = await question(door)
        assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
        assert "dense" in answer.json()["detail"]


async def test_without_search_everything_else_goes_on(system: System) -> None:
    async with system.door() as door:
        await system.stop("eunoe-search")
        answer = await question(door)
        assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
        document = await ingested(door)
        assert (await door.get(f"/v1/documents/{document}/text")).status_code == 200
        ready = (await door.get("/ready")).json()
        assert ready["parts"]["search"]["ok"] is False
        at = system.addresses["eunoe-search"]["grpc"]
        await system.start(search.PROGRAM, EUNOE_PROCESS__GRPC=at)

        async def is_found() -> bool:
            found = await question(door)
            return found.status_code == 200 and found.json()["results"][0]["document_id"] == document

        await until(is_found, within_s=10)


async def test_another_secret_is_another_system(system: System) -> None:
    await system.stop("eunoe-gateway")
    await system.start(gateway.PROGRAM, EUNOE_INTERNAL__SECRET="somebody else's own secret")
    async with system.door() as door:
        answer = await question(door)
        assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
        assert "does not accept the secret" in answer.json()["detail"]


def test_each_opens_only_the_stores_it_needs() -> None:
    programs = (gateway.PROGRAM, extractor.PARSE, embedder.PROGRAM, llm_extractor.PROGRAM, graph.PROGRAM, search.PROGRAM)
    catalogue, log, vectors = StoreName.CATALOGUE, StoreName.LOG, StoreName.VECTORS
    assert [each.stores for each in programs] == [
        frozenset(StoreName),
        {catalogue, StoreName.BLOBS, log},
        {catalogue, vectors, log},
        {catalogue, log},
        {catalogue, StoreName.GRAPH, log},
        {catalogue, vectors, StoreName.GRAPH},
    ]
    assert len({each.admin_port for each in (*programs, extractor.FETCH)}) == 7

"""Checks 17, 18 and 20 to 24 of the fault list: stores that fail in part, for a while or silently, and clocks that jump."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest
from eunoe.v1 import admin_pb2, search_pb2
from eunoe_contracts.content import STRUCTURE_KINDS
from eunoe_contracts.errors import BlobNotFound, ModelMismatch, StoreUnavailable
from eunoe_contracts.stages import DocumentStatus, Stage, StageState
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_embedder.indexing import BATCH
from eunoe_models.artifacts import Loaded
from eunoe_models.testing import HashingEmbedder
from eunoe_standalone import composition
from eunoe_standalone.audit import audit
from eunoe_standalone.data_directory import DataDirectory
from eunoe_standalone.testing_pipeline import OPERATOR, Call, FastClock, Pipeline, faulty, pipeline, until

TEXT = "My favourite colour is vermilion. The lake was cold that year."
NO_SWEEPER = {"sweep_after_s": 36_000.0}
HOUR_S = 3600.0


async def letters(running: Pipeline) -> list[admin_pb2.DeadLetter]:
    return list((await running.parts.application.dead_letters(OPERATOR, admin_pb2.DeadLettersRequest())).dead_letters)


async def test_check_17_only_the_rows_that_a_batch_lost_are_written_again(tmp_path: Path) -> None:
    """The vector store takes all rows of a batch but three and reports a failure: the retry sends exactly these three."""
    tries: list[list[UUID]] = []

    async def vectors(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name != "upsert" or args[1][0].kind not in STRUCTURE_KINDS:
            return await call(*args, **named)
        tries.append([each.key for each in args[1]])
        if len(tries) == 1:
            await call(args[0], args[1][:-3])
            raise StoreUnavailable("3 rows were refused")
        return await call(*args, **named)

    text = "\n\n".join(f"Part {n} of the survey. " + "The water was clear and cold. " * 60 for n in range(100))
    async with pipeline(tmp_path, wrap=faulty(vectors=vectors), clock=FastClock(20), **NO_SWEEPER) as running:
        document = await running.post(text)
        row = await running.ended(document)
        first, second, *others = tries
        assert len(first) == BATCH
        assert second == first[-3:]
        assert not {*first} & {key for other in others for key in other}
        assert row.stages[Stage.EMBED].attempts == 2
        assert await running.stores.vectors.count(DEFAULT_TENANT, document=document) == len(first) + sum(map(len, others)) > 100


async def test_check_18_a_graph_conflict_is_tried_again_after_growing_delays(tmp_path: Path) -> None:
    """Three deadlocks of the graph: three bounded delays, each longer than the one before, then success and no dead letter."""
    clock = FastClock(150)
    tries: list[datetime] = []

    async def graph(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "upsert" and len(tries) < 4:
            tries.append(clock.now())
            if len(tries) < 4:
                raise StoreUnavailable("deadlock")
        return await call(*args, **named)

    async with pipeline(tmp_path, wrap=faulty(graph=graph), clock=clock, **NO_SWEEPER) as running:
        row = await running.ended(await running.post("The lake was cold."))
        assert row.stages[Stage.STRUCTURE].attempts == 4
        delays = [(after - before).total_seconds() for before, after in pairwise(tries)]
        assert [least <= delay for least, delay in zip((1, 10, 60), delays, strict=True)] == [True] * 3, delays
        assert await letters(running) == []


class Blobs:
    """A blob store whose reads go wrong `times` times, in one way."""

    def __init__(self, port: Any, fault: str, times: int) -> None:
        self._port = port
        self._fault = fault
        self._left = times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)

    @asynccontextmanager
    async def as_file(self, *args: Any) -> AsyncIterator[Path]:
        async with self._port.as_file(*args) as path:
            if self._left <= 0:
                yield path
                return
            self._left -= 1
            if self._fault == "503":
                raise StoreUnavailable
            if self._fault == "gone":
                raise BlobNotFound
            if self._fault == "slow":
                await asyncio.Event().wait()
            data = path.read_bytes()
            damaged = path.with_name(f"{path.name}-{self._fault}")
            damaged.write_bytes(data[: len(data) // 2] if self._fault == "truncated" else data[:-1] + b"?")
            try:
                yield damaged
            finally:
                damaged.unlink()


@pytest.mark.parametrize(
    ("fault", "times", "status", "code", "attempts"),
    [
        ("503", 3, DocumentStatus.DONE, "", 4),
        ("slow", 1, DocumentStatus.DONE, "", 2),
        ("truncated", 2, DocumentStatus.DONE, "", 3),
        ("garbled", 1, DocumentStatus.DONE, "", 2),
        ("garbled", 99, DocumentStatus.FAILED, "read_back_failed", 5),
        ("gone", 1, DocumentStatus.FAILED, "blob_not_found", 1),
    ],
)
async def test_check_20_the_object_store_fails_and_the_type_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, times: int, status: DocumentStatus, code: str, attempts: int
) -> None:
    """Not there now, slow, cut off or garbled: read again, within bounds. Gone: failed at once. Never is half a text indexed."""
    monkeypatch.setenv("EUNOE_EXTRACTOR__DEADLINE_S", "1")

    def wrap(stores: DataDirectory) -> DataDirectory:
        blobs: Any = Blobs(stores.blobs, fault, times)
        return replace(stores, blobs=blobs)

    async with pipeline(tmp_path, wrap=wrap, clock=FastClock(300), **NO_SWEEPER) as running:
        document = await running.post("It begins here. " + "The water was clear and cold. " * 20 + "It ends with a heron.")
        row = await running.ended(document, status, within_s=15)
        assert (row.error_code, row.stages[Stage.EXTRACT].attempts) == (code, attempts)
        assert [each.code for each in await letters(running)] == [code] * bool(code)
        assert (str(document) in await running.hits("heron")) is (status is DocumentStatus.DONE)


async def test_check_21_an_hour_without_the_graph_is_told_and_made_up(tmp_path: Path) -> None:
    """The vectors are written, the graph is away for an hour: the item tells which stage waits and why; then it is done."""
    down = True

    async def graph(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if down and name in {"upsert", "count", "nodes"}:
            raise StoreUnavailable
        return await call(*args, **named)

    clock = FastClock(900)
    async with pipeline(tmp_path, wrap=faulty(graph=graph), clock=clock, **NO_SWEEPER) as running:
        started = clock.now()
        document = await running.post("The lake was cold.")

        async def an_hour() -> bool:
            return clock.now() - started > timedelta(hours=1)

        await until(an_hour, within_s=20)
        row = await running.row(document)
        assert row is not None
        assert (row.status, row.stages[Stage.EMBED].state) == (DocumentStatus.INDEXING, StageState.FINISHED)
        waiting = row.stages[Stage.STRUCTURE]
        assert waiting.code == "store_unavailable"
        assert waiting.attempts > 5
        ready = await running.parts.application.readiness()
        assert not ready.ready
        assert await letters(running) == []
        down = False
        await running.ended(document)
        assert await running.hits("lake") == [str(document)]


async def test_check_22_search_names_the_backend_that_is_down(tmp_path: Path) -> None:
    """One arm or the graph down: an answer that says what is missing. No arm at all: an error, never an empty answer."""
    down: set[str] = set()

    async def failing(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name in down:
            raise StoreUnavailable
        return await call(*args, **named)

    model = HashingEmbedder()
    with embedder(model):
        async with pipeline(tmp_path, wrap=faulty(vectors=failing, graph=failing), **NO_SWEEPER) as running:
            await running.ended(await running.post(TEXT))

            async def search() -> search_pb2.SearchResponse:
                request = search_pb2.SearchRequest(query="favourite colour", limit=5, include_related=True)
                return await running.parts.application.search(OPERATOR, request)

            assert list((await search()).degraded) == []
            for names, told in (
                ({"dense"}, {"dense"}),
                ({"bm25_context"}, {"bm25_context"}),
                ({"bm25_body", "bm25_context", "bm25_parent"}, {"bm25_body", "bm25_context", "bm25_parent"}),
                ({"neighbours", "hops", "by_name", "nodes", "in_degree"}, {"graph"}),
            ):
                down.update(names)
                answer = await search()
                assert told <= set(answer.degraded), names
                assert answer.results, names
                down.clear()
            model.failing = True
            assert set((await search()).degraded) == {"dense"}
            down.update({"bm25_body", "bm25_context", "bm25_parent"})
            with pytest.raises(StoreUnavailable):
                await search()


@contextmanager
def embedder(model: HashingEmbedder) -> Iterator[None]:
    """Compositions made inside have this model."""
    loaded: Any = Loaded
    with patch.object(composition, "load_embedder", lambda *_, **__: loaded(model, model.counter)):
        yield


@pytest.mark.parametrize("other", [HashingEmbedder(model_id="another"), HashingEmbedder(model_id="hashing-1", dimensions=64)])
async def test_check_23_another_model_or_dimension_is_refused_at_the_start(tmp_path: Path, other: HashingEmbedder) -> None:
    """An index of one model is never opened with another one, nor with another number of dimensions, and stays as it is."""
    with embedder(HashingEmbedder()):
        async with pipeline(tmp_path, **NO_SWEEPER) as running:
            document = await running.post(TEXT)
            await running.ended(document)
    with embedder(other), pytest.raises(ModelMismatch):
        async with pipeline(tmp_path):
            pass
    with embedder(HashingEmbedder()):
        async with pipeline(tmp_path, **NO_SWEEPER) as running:
            assert str(document) in await running.hits("favourite colour")
            assert not (await audit(running.stores)).miscounted


class JumpingClock(FastClock):
    """Fast time whose wall clock somebody sets."""

    def __init__(self, speed: float, *, offset_s: float = 0.0) -> None:
        super().__init__(speed)
        self.offset_s = offset_s

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self.offset_s)


@pytest.mark.parametrize("jump_s", [HOUR_S, -HOUR_S])
async def test_check_24_a_clock_set_an_hour_off_stops_nothing(tmp_path: Path, jump_s: float) -> None:
    """Work in hand, work that waits for a retry, and new work go on; no time span is negative; no lease is kept for an hour."""
    clock, gate, failures = JumpingClock(20), asyncio.Event(), 0

    async def catalogue(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        nonlocal failures
        if name == "put_units" and named["title"] == "held":
            await gate.wait()
        if name == "put_units" and named["title"] == "twice" and failures < 2:
            failures += 1
            if failures == 2:
                clock.offset_s += jump_s
            raise StoreUnavailable
        return await call(*args, **named)

    async with pipeline(tmp_path, wrap=faulty(catalogue=catalogue), clock=clock, drain_s=0.0, **NO_SWEEPER) as running:
        held, twice = await running.post("The heron.", name="held.txt"), await running.post("The stork.", name="twice.txt")

        async def has_jumped() -> bool:
            return failures == 2

        await until(has_jumped)
        later = await running.post("Note: the crane is grey.", name="later.txt")
        await running.ended(later)
        await running.ended(twice)
        gate.set()
        await running.ended(held)
        for stage in Stage:
            found = running.parts.metrics.registry.get_sample_value("eunoe_stage_duration_seconds_sum", {"stage": stage.value})
            assert found is not None
            assert found >= 0
        gate.clear()
        again = await running.post("The heron came back.", name="held.txt")

        async def in_work() -> bool:
            row = await running.row(again)
            return row is not None and row.status is DocumentStatus.EXTRACTING

        await until(in_work)
    # Killed with claims and leases in hand; the next process has the clock set the other way.
    async with pipeline(tmp_path, clock=JumpingClock(20, offset_s=-jump_s), **NO_SWEEPER) as running:
        await running.ended(again)

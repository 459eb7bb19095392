"""Every accepted document ends once; a failed or cancelled one is not found; a replay brings all of it back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from eunoe_contracts.content import STRUCTURE_KINDS
from eunoe_contracts.errors import ModelMismatch, StoreUnavailable
from eunoe_contracts.stages import DocumentStatus, Stage
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_standalone.testing_pipeline import Call, Pipeline, faulty, pipeline, until

COLOUR = "My favourite colour is vermilion. The lake was cold that year."
NO_SWEEPER = {"sweep_after_s": 3600.0}


class BrokenIndex:
    """Refuses passages, for good, once the document's memories are in; until it is `repaired`."""

    def __init__(self) -> None:
        self.repaired = False
        self._memories = asyncio.Event()

    async def __call__(self, call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name != "upsert" or self.repaired:
            return await call(*args, **named)
        if args[1][0].kind in STRUCTURE_KINDS:
            await self._memories.wait()
            raise ModelMismatch
        result = await call(*args, **named)
        self._memories.set()
        return result


async def rows_and_nodes(running: Pipeline) -> tuple[int, int]:
    return await running.stores.vectors.count(DEFAULT_TENANT), await running.stores.graph.count(DEFAULT_TENANT)


async def test_what_only_failed_documents_say_is_not_found(tmp_path: Path) -> None:
    async with pipeline(tmp_path, wrap=faulty(vectors=BrokenIndex()), **NO_SWEEPER) as running:
        documents = [await running.post(COLOUR, name=name) for name in ("first", "second")]
        for each in documents:
            await running.ended(each, DocumentStatus.FAILED)
        assert await running.hits("favourite colour vermilion") == []


async def test_a_memory_is_not_found_once_only_a_failed_document_is_left_of_its_sources(tmp_path: Path) -> None:
    index = BrokenIndex()
    async with pipeline(tmp_path, wrap=faulty(vectors=index), sweep_interval_s=0.05, erase_after_s=0.1, **NO_SWEEPER) as running:
        failed = await running.post(COLOUR, name="failed")
        await running.ended(failed, DocumentStatus.FAILED)
        index.repaired = True
        done = await running.post(COLOUR, name="done")
        await running.ended(done)
        assert "My favourite colour is vermilion." in await running.contents("favourite colour")
        await running.delete(done)
        assert await running.hits("favourite colour vermilion") == []


async def test_a_replayed_document_is_complete_without_the_help_of_the_sweeper(tmp_path: Path) -> None:
    index = BrokenIndex()
    async with pipeline(tmp_path, wrap=faulty(vectors=index), **NO_SWEEPER) as running:
        document = await running.post(COLOUR)
        await running.ended(document, DocumentStatus.FAILED)
        index.repaired = True
        assert await running.replay(document) == 1
        await running.ended(document, within_s=5)
        assert "My favourite colour is vermilion." in await running.contents("favourite colour")
        assert await running.letters(document) == []


async def test_a_stage_that_ran_when_the_document_failed_runs_again_at_once(tmp_path: Path) -> None:
    index, failed = BrokenIndex(), asyncio.Event()

    async def graph(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "upsert":
            await failed.wait()
        return await call(*args, **named)

    async with pipeline(tmp_path, wrap=faulty(vectors=index, graph=graph), **NO_SWEEPER) as running:
        document = await running.post(COLOUR)
        await running.ended(document, DocumentStatus.FAILED)
        failed.set()
        index.repaired = True
        assert await running.replay(document) == 1
        await running.ended(document, within_s=5)


async def test_a_replay_at_the_moment_of_the_end_wins(tmp_path: Path) -> None:
    index = BrokenIndex()
    replayed = 0
    running: Pipeline

    async def catalogue(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        nonlocal replayed
        if name == "set_end" and not replayed:
            index.repaired = True
            replayed = await running.replay(args[1])
        return await call(*args, **named)

    async with pipeline(tmp_path, wrap=faulty(vectors=index, catalogue=catalogue), **NO_SWEEPER) as running:
        document = await running.post(COLOUR)
        await until(lambda: asyncio.sleep(0, replayed), what=lambda: "no replay")
        await running.ended(document, within_s=5)


async def test_a_writer_killed_behind_the_fence_leaves_nothing(tmp_path: Path) -> None:
    gate, written = asyncio.Event(), asyncio.Event()

    async def late(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name != "upsert":
            return await call(*args, **named)
        await gate.wait()
        await call(*args, **named)
        written.set()
        return await asyncio.Event().wait()

    async with pipeline(tmp_path, wrap=faulty(vectors=late, graph=late), drain_s=0.0) as running:
        document = await running.post(COLOUR)

        async def in_work() -> bool:
            row = await running.row(document)
            return row is not None and sum(each.state == "running" for each in row.stages.values()) >= 2

        await until(in_work, what=lambda: "not in work")
        await running.cancel(document)
        gate.set()
        await written.wait()
    async with pipeline(tmp_path) as running:
        await running.ended(document, DocumentStatus.CANCELLED)
        assert await running.hits("lake cold vermilion") == []

        async def nothing() -> bool:
            return await rows_and_nodes(running) == (0, 0)

        await until(nothing, within_s=5, what=lambda: "rows of a cancelled document stay")


async def test_a_cancelled_document_leaves_nothing_although_the_call_broke_off(tmp_path: Path) -> None:
    armed = True

    async def index(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        nonlocal armed
        if name == "delete_document" and armed:
            armed = False
            raise StoreUnavailable
        return await call(*args, **named)

    async def no_end(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "set_end":
            raise StoreUnavailable
        return await call(*args, **named)

    soon = {"sweep_interval_s": 0.05, "sweep_after_s": 0.2, "sweep_again_s": 0.1}
    async with pipeline(tmp_path, wrap=faulty(vectors=index, catalogue=no_end), drain_s=0.0, **soon) as running:
        document = await running.post(COLOUR)

        async def all_written() -> bool:
            row = await running.row(document)
            return row is not None and len(row.stages) == len(Stage) and all(each.state == "finished" for each in row.stages.values())

        await until(all_written)
        with pytest.raises(StoreUnavailable):
            await running.cancel(document)
        assert await running.hits("lake cold vermilion") == []

        async def nothing() -> bool:
            listed = await running.stores.catalogue.open_documents(not_updated_since=running.parts.clock.now(), limit=9)
            return not listed and await rows_and_nodes(running) == (0, 0)

        await until(nothing, within_s=4, what=lambda: "rows of a cancelled document stay")

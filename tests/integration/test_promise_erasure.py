"""Erased means gone from every store, for ever, whatever fails on the way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eunoe.v1 import memory_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_standalone.testing_pipeline import OPERATOR, Call, Pipeline, faulty, pipeline, until

COLOUR = "My favourite colour is vermilion. The lake was cold that year."
SOON = {"sweep_interval_s": 0.05, "erase_after_s": 0.2, "sweep_after_s": 3600}


async def nothing_left(running: Pipeline) -> bool:
    rows, nodes = await running.stores.vectors.count(DEFAULT_TENANT), await running.stores.graph.count(DEFAULT_TENANT)
    return rows == 0 and nodes == 0


async def proved(running: Pipeline) -> bool:
    far = running.parts.clock.now().replace(year=9999)
    return not await running.stores.catalogue.pending_erasures(requested_before=far, limit=10)


async def test_rows_of_memories_go_although_the_index_failed_once_while_they_were_removed(tmp_path: Path) -> None:
    failures = 0

    async def index(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        nonlocal failures
        if name == "delete_rows" and args[1] and failures < 2:
            failures += 1
            raise StoreUnavailable
        return await call(*args, **named)

    async with pipeline(tmp_path, wrap=faulty(vectors=index), **SOON) as running:
        document = await running.post(COLOUR)
        await running.ended(document)
        await running.delete(document)
        await until(lambda: proved(running), what=lambda: "no proof")
        assert failures, "nothing was tested"
        assert await nothing_left(running)


async def test_memories_of_an_erased_document_stay_away_when_its_id_is_used_again(tmp_path: Path) -> None:
    async def log(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "publish" and any(each.topic == topics.DOCUMENT_ERASED for each in args[0]):
            raise StoreUnavailable
        return await call(*args, **named)

    held = False

    async def catalogue(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if held and name == "put_units":
            raise StoreUnavailable
        return await call(*args, **named)

    async with pipeline(tmp_path, wrap=faulty(log=log, catalogue=catalogue), drain_s=0.0) as running:
        document = await running.post(COLOUR, key="one")
        await running.ended(document)
        await running.delete(document)
        held = True
        assert await running.post("Nothing but the weather.", key="one") == document
        assert not [text for text in await running.contents("favourite colour vermilion") if "vermilion" in text]
        listed = await running.parts.application.list_memories(OPERATOR, memory_pb2.ListMemoriesRequest())
        assert [each.content for each in listed.memories] == []


def in_files(folder: Path, word: bytes) -> dict[str, int]:
    """Files that hold the word, and how often."""
    return {path.name: count for path in folder.rglob("*") if path.is_file() and (count := path.read_bytes().count(word))}


async def test_no_file_holds_a_word_of_it_once_the_erasure_is_proved(tmp_path: Path) -> None:
    """Not the full-text segments, the free pages and the logs of the databases either; neither the word nor its stem."""
    async with pipeline(tmp_path, **SOON) as running:
        others = [await running.post(f"Harbour report {number}.", name=f"harbour{number}") for number in range(30)]
        document = await running.post("My favourite colour is vermilion. Remember that Vermilion Quay is closed.", name="vermilion.txt")
        for each in (*others, document):
            await running.ended(each)
        assert {"eunoe.db-wal", "index.db-wal"} <= in_files(tmp_path, b"vermilion").keys(), "nothing is tested"
        await running.delete(document)
        await until(lambda: proved(running), what=lambda: "no proof")
        assert {**in_files(tmp_path, b"ermilion"), **in_files(tmp_path, b"vermil")} == {}
        assert len(await running.hits("harbour report")) == len(others)
    assert {**in_files(tmp_path, b"ermilion"), **in_files(tmp_path, b"vermil")} == {}


async def test_a_memory_stays_as_long_as_one_of_its_documents(tmp_path: Path) -> None:
    async with pipeline(tmp_path, **SOON) as running:
        first = await running.post(COLOUR, name="first")
        await running.ended(first)
        second = await running.post(COLOUR, name="second")
        await running.ended(second)
        await running.delete(second)
        await until(lambda: proved(running), what=lambda: "no proof")
        assert "My favourite colour is vermilion." in await running.contents("favourite colour")
        (key,) = (await running.stores.vectors.keys_of(DEFAULT_TENANT, [await running.memory("vermilion")])).values()
        (row,) = (await running.stores.vectors.refs(DEFAULT_TENANT, key)).values()
        assert row.document == first, "the row tells of the erased document"
        await running.delete(first)
        await until(lambda: proved(running), what=lambda: "no proof")
        assert await nothing_left(running)

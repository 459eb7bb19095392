"""Check 44 of the fault list, without the restore: erased in flight, delivered again, replayed from the dead letters."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from eunoe.v1 import admin_pb2, memory_pb2
from eunoe_contracts import topics
from eunoe_contracts.content import STRUCTURE_KINDS
from eunoe_contracts.errors import CapabilityUnavailable, DocumentNotFound, StaleGeneration
from eunoe_contracts.events import Record
from eunoe_contracts.stages import Stage
from eunoe_standalone.audit import audit
from eunoe_standalone.testing_pipeline import OPERATOR, Call, FastClock, Pipeline, faulty, pipeline, until
from eunoe_standalone.testing_state import state_of

SECRET = "quagmire"
TEXT = f"My favourite word is {SECRET}. Remember that the {SECRET} belongs to Mara.\n\nThe {SECRET} was cold that year."
SINKS = {"put_units": Stage.EXTRACT, "put_memories": Stage.PROPOSE}
"""Writes that tell their stage by their name; the others tell it by what they write."""


class Late:
    """Holds the write of one stage back until the document is erased, then lets it through, with all that it holds."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.reached, self.erased = asyncio.Event(), asyncio.Event()

    async def __call__(self, call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if self._stage_of(name, args) is self._stage and not self.reached.is_set():
            self.reached.set()
            await self.erased.wait()
        return await call(*args, **named)

    def _stage_of(self, name: str, args: tuple[Any, ...]) -> Stage | None:
        if name != "upsert":
            return SINKS.get(name)
        if len(args) == 2:
            return Stage.EMBED if args[1][0].kind in STRUCTURE_KINDS else Stage.EMBED_MEMORIES
        return Stage.RELATE if {each.kind.value for each in args[1]} <= {"memory", "entity"} else Stage.STRUCTURE


async def proved(running: Pipeline) -> bool:
    far = running.parts.clock.now().replace(year=9999)
    return not await running.stores.catalogue.pending_erasures(requested_before=far, limit=10)


def proofs(folder: Path) -> list[Any]:
    with closing(sqlite3.connect(folder / "eunoe.db")) as database:
        return database.execute("SELECT document FROM erasures WHERE completed_at IS NOT NULL").fetchall()


@pytest.mark.parametrize("stage", Stage)
async def test_check_44_what_was_erased_in_flight_never_comes_back(tmp_path: Path, stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """Erased while one stage is about to write; then all its events come again and its dead letter is replayed: nothing answers,
    nothing is left in any store, the proof stays, and neither log lines nor dead letters hold what it said.
    """
    caplog.set_level(logging.DEBUG)
    late, records = Late(stage), list[Record]()

    async def log(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "publish":
            records.extend(args[0])
        return await call(*args, **named)

    soon = {"sweep_interval_s": 0.5, "erase_after_s": 10.0, "sweep_after_s": 36_000.0}
    wrap = faulty(catalogue=late, vectors=late, graph=late, log=log)
    async with pipeline(tmp_path, wrap=wrap, clock=FastClock(10), **soon) as running:
        document = await running.post(TEXT, name=f"{SECRET}.txt")
        await asyncio.wait_for(late.reached.wait(), 10)
        await running.delete(document)
        late.erased.set()
        assert await answers(running, document) == []
        await running.stores.log.publish(list(records))
        await until(lambda: proved(running), what=lambda: "no proof")
        await running.stores.log.publish(list(records))
        await until(lambda: settled(running, len(records)), what=lambda: "not read")
        assert await answers(running, document) == []
        assert await left(running) == {}
        assert proofs(tmp_path)
    assert SECRET not in caplog.text


async def test_check_44_a_dead_letter_of_an_erased_document_is_not_replayed(tmp_path: Path) -> None:
    """An optional stage gave up, then the document was erased: its letter tells nothing any more, and its replay is refused."""

    async def catalogue(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "put_memories":
            raise CapabilityUnavailable
        return await call(*args, **named)

    soon = {"sweep_interval_s": 0.05, "erase_after_s": 0.2, "sweep_after_s": 3600.0}
    async with pipeline(tmp_path, wrap=faulty(catalogue=catalogue), **soon) as running:
        document = await running.post(TEXT, name=f"{SECRET}.txt")
        row = await running.ended(document)
        assert row.degraded == ("propose",)
        (letter,) = await running.letters(document)
        await running.delete(document)
        await until(lambda: proved(running), what=lambda: "no proof")
        with pytest.raises(StaleGeneration):
            await running.parts.application.replay(OPERATOR, admin_pb2.ReplayRequest(ids=[letter.id]))
        assert await running.replay(document) == 0
        assert SECRET not in str(await running.letters(document))
        assert await answers(running, document) == []
        assert await left(running) == {}
        assert proofs(tmp_path)


async def settled(running: Pipeline, published: int) -> bool:
    """Every group has read everything that was published again."""
    pairs = (
        (topics.DOCUMENT_ACCEPTED, "extract"),
        (topics.DOCUMENT_EXTRACTED, "embedder"),
        (topics.DOCUMENT_EXTRACTED, "graph"),
        (topics.DOCUMENT_EXTRACTED, "propose"),
        (topics.MEMORIES_PROPOSED, "embedder"),
        (topics.MEMORIES_EMBEDDED, "graph"),
    )
    return published > 0 and not any([await running.stores.log.lag(*each) for each in pairs])


async def answers(running: Pipeline, document: UUID) -> list[str]:
    """Everything that any call still tells of it."""
    found = await running.contents(f"favourite {SECRET} Mara")
    found += [each.content for each in (await running.parts.application.list_memories(OPERATOR, memory_pb2.ListMemoriesRequest())).memories]
    try:
        found.append(await running.parts.application.document_text(OPERATOR, str(document)))
    except DocumentNotFound:
        return found
    return found


async def left(running: Pipeline) -> dict[str, list[Any]]:
    """What is left in the stores, by store; and what an audit finds."""
    found = {name: rows for name, rows in (await state_of(running)).items() if rows}
    audited = await audit(running.stores)
    found |= {"orphans": audited.orphans} if audited.orphans else {}
    return found

"""Checks 1 to 6 of the fault list: crashes, lost replies, duplicates and disorder between acceptance and the end."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from eunoe_contracts import topics
from eunoe_contracts.content import STRUCTURE_KINDS
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.events import Record, encode
from eunoe_contracts.stages import DocumentStatus, Stage
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_gateway.documents.inputs import accepted_event
from eunoe_standalone.audit import audit
from eunoe_standalone.testing_pipeline import Call, FastClock, Faulty, Pipeline, faulty, pipeline, until
from eunoe_standalone.testing_state import state_of
from eunoe_stores.graph.port import NodeKind

TEXT = "My favourite colour is vermilion. The lake was cold that year.\n\nRemember that the boat belongs to Mara."
NO_SWEEPER = {"sweep_after_s": 3600.0}
SWEEP_AT_ONCE = {"sweep_interval_s": 0.05, "sweep_after_s": 0.1, "sweep_again_s": 0.0}


class Published:
    """Notes what is published; refuses the topics in `refused`, before or after the log has the records."""

    def __init__(self, *refused: str, after: bool = False) -> None:
        self.records: list[Record] = []
        self.refused = set(refused)
        self.after = after

    async def __call__(self, call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name != "publish":
            return await call(*args, **named)
        refused = any(each.topic in self.refused for each in args[0])
        if refused and not self.after:
            raise StoreUnavailable
        result = await call(*args, **named)
        self.records += args[0]
        if refused:
            raise StoreUnavailable
        return result

    def count(self, topic: str) -> int:
        return sum(each.topic == topic for each in self.records)


async def undisturbed(folder: Path, text: str = TEXT) -> dict[str, list[Any]]:
    """The state after the same document without any fault."""
    async with pipeline(folder, **NO_SWEEPER) as running:
        await running.ended(await running.post(text, name="note"))
        return await state_of(running)


async def is_sound(running: Pipeline) -> bool:
    found = await audit(running.stores)
    return not (found.orphans or found.missing or found.miscounted or found.open)


@pytest.mark.parametrize("row_written", [False, True])
async def test_check_01_a_kill_between_object_and_event_is_published_once(tmp_path: Path, row_written: bool) -> None:
    """The process dies when the bytes are stored and the first event is not: the next one publishes it exactly once.

    When it dies before the row, nothing was acknowledged: the bytes are an orphan and go.
    """

    async def catalogue(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name in {"accept", "document"} and not row_written:
            raise StoreUnavailable  # `document` too: what tidies up after a failed accept died with the process
        return await call(*args, **named)

    log = Published(topics.DOCUMENT_ACCEPTED)
    async with pipeline(tmp_path, wrap=faulty(log=log, catalogue=catalogue), drain_s=0.0, **NO_SWEEPER) as running:
        if row_written:
            document = await running.post(TEXT, name="note")
        else:
            with pytest.raises(StoreUnavailable):
                await running.post(TEXT, name="note")
            assert await running.stores.blobs.documents(DEFAULT_TENANT)
    log = Published()
    async with pipeline(tmp_path, wrap=faulty(log=log), **SWEEP_AT_ONCE) as running:
        if row_written:
            await running.ended(document)
            await until(lambda: is_sound(running))
            assert log.count(topics.DOCUMENT_ACCEPTED) == 1
        else:

            async def no_bytes() -> bool:
                return not await running.stores.blobs.documents(DEFAULT_TENANT)

            await until(no_bytes, what=lambda: "the bytes of nothing stay")
            assert log.count(topics.DOCUMENT_ACCEPTED) == 0


@pytest.mark.parametrize("lost", ["log", "catalogue"])
async def test_check_02_a_lost_reply_and_a_retry_with_the_same_key_make_one_item(tmp_path: Path, lost: str) -> None:
    """The effect is there, the caller never hears of it and asks again with its key: one document, one id, found once."""
    replies = 0

    async def catalogue(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        nonlocal replies
        result = await call(*args, **named)
        if lost == "catalogue" and name == "accept":
            replies += 1
            if replies == 1:
                raise StoreUnavailable
        return result

    log = Published(*([topics.DOCUMENT_ACCEPTED] if lost == "log" else []), after=True)
    async with pipeline(tmp_path, wrap=faulty(log=log, catalogue=catalogue), **SWEEP_AT_ONCE) as running:
        documents = set()
        for _ in range(3):
            try:
                documents.add(await running.post(TEXT, key="one"))
            except StoreUnavailable:
                assert lost == "catalogue"
        (document,) = documents
        log.refused.clear()
        row = await running.ended(document)
        assert row.generation == 1
        assert (await running.hits("favourite colour vermilion")).count(str(document)) <= 2  # one passage, one memory of it
        state = await state_of(running)
        assert [each[0] for each in state["documents"]] == [document]
        await until(lambda: is_sound(running))


SINKS = {
    Stage.EXTRACT: ("catalogue", "put_units"),
    Stage.EMBED: ("vectors", "upsert"),
    Stage.PROPOSE: ("catalogue", "put_memories"),
    Stage.STRUCTURE: ("graph", "upsert"),
    Stage.EMBED_MEMORIES: ("vectors", "upsert"),
    Stage.RELATE: ("graph", "upsert"),
}


def writes_of(stage: Stage, args: Sequence[Any]) -> bool:
    """Whether a write to a sink is this stage's own: both embedding stages, and both of the graph, use one method."""
    if stage in {Stage.EMBED, Stage.EMBED_MEMORIES}:
        return (args[1][0].kind in STRUCTURE_KINDS) is (stage is Stage.EMBED)
    if stage in {Stage.STRUCTURE, Stage.RELATE}:
        return any(each.kind is NodeKind.DOCUMENT for each in args[1]) is (stage is Stage.STRUCTURE)
    return True


@pytest.mark.parametrize("stage", Stage)
async def test_check_03_a_crash_after_the_sink_write_leaves_no_duplicate(tmp_path: Path, stage: Stage) -> None:
    """Each stage in turn writes its rows and dies before anything is committed: the repetition ends with exactly the same rows."""
    port, method = SINKS[stage]
    written = asyncio.Event()

    async def sink(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        result = await call(*args, **named)
        if name == method and writes_of(stage, args):
            written.set()
            await asyncio.Event().wait()  # until the process is gone
        return result

    async with pipeline(tmp_path / "crashed", wrap=faulty(**{port: sink}), drain_s=0.0, **NO_SWEEPER) as running:
        document = await running.post(TEXT, name="note")
        await asyncio.wait_for(written.wait(), 10)
    async with pipeline(tmp_path / "crashed", **NO_SWEEPER) as running:
        await running.ended(document)
        assert await state_of(running) == await undisturbed(tmp_path / "undisturbed")


@pytest.mark.parametrize("stored", [False, True])
async def test_check_04_a_crash_around_the_offset_commit_leaves_no_duplicate(tmp_path: Path, stored: bool) -> None:
    """The commit of the offsets is asked for and never answered, with and without having been stored; then the process dies."""
    asked: Counter[str] = Counter()

    async def commit(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "commit":
            asked.update(each.topic for each in args[0])
            if stored:
                await call(*args, **named)
            raise StoreUnavailable
        return await call(*args, **named)

    async def log(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        result = await call(*args, **named)
        return Faulty(result, commit) if name == "consumer" else result

    async with pipeline(tmp_path / "crashed", wrap=faulty(log=log), drain_s=0.0, **NO_SWEEPER) as running:
        document = await running.post(TEXT, name="note")
        await running.ended(document)

        async def all_asked() -> bool:
            return len(asked) >= 5

        await until(all_asked, what=lambda: f"asked for {set(asked)} only")
        lag = await running.stores.log.lag(topics.DOCUMENT_ACCEPTED, "extract")
        assert lag == (0 if stored else 1)
    async with pipeline(tmp_path / "crashed", **NO_SWEEPER) as running:

        async def all_read() -> bool:
            return not await running.stores.log.lag(topics.STAGE_FINISHED, "finish") and not await running.stores.log.lag(
                topics.DOCUMENT_ACCEPTED, "extract"
            )

        await until(all_read)
        await running.ended(document)
        assert await state_of(running) == await undisturbed(tmp_path / "undisturbed")


def counted(running: Pipeline, stage: Stage, outcome: str) -> float:
    labels = {"stage": stage.value, "outcome": outcome}
    return running.parts.metrics.registry.get_sample_value("eunoe_stage_messages_total", labels) or 0.0


async def test_check_05_one_event_delivered_five_times_at_once_has_one_effect(tmp_path: Path) -> None:
    """Five deliveries of one event under five keys, so that nothing but the ledger keeps them apart: one works, four are skipped."""
    effects, gate = 0, asyncio.Event()

    async def catalogue(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        nonlocal effects
        if name == "put_units":
            effects += 1
            await gate.wait()
        return await call(*args, **named)

    log = Published(topics.DOCUMENT_ACCEPTED)
    async with pipeline(tmp_path, wrap=faulty(log=log, catalogue=catalogue), clock=FastClock(20), **NO_SWEEPER) as running:
        document = await running.post(TEXT, name="note")
        row = await running.row(document)
        assert row is not None
        log.refused.clear()
        record = encode(accepted_event(row))
        await running.stores.log.publish([Record(record.topic, f"key{n}", record.value, record.headers) for n in range(5)])

        async def four_busy() -> bool:
            return counted(running, Stage.EXTRACT, "busy") >= 4

        await until(four_busy, what=lambda: "not at once")
        gate.set()
        await running.ended(document)

        async def four_skipped() -> bool:
            return counted(running, Stage.EXTRACT, "duplicate") == 4

        await until(four_skipped, what=lambda: "not skipped")
        assert (effects, counted(running, Stage.EXTRACT, "ok")) == (1, 1)
        assert await is_sound(running)


GATED = (Stage.EMBED, Stage.PROPOSE, Stage.STRUCTURE)


async def outcome_of_order(folder: Path, order: Sequence[Stage]) -> dict[str, list[Any]]:
    """The final state when the stages do their work in that order, and then all events come once more, the last first."""
    gates = {stage: asyncio.Event() for stage in GATED}

    async def has_finished(running: Pipeline, document: UUID, stage: Stage) -> bool:
        row = await running.row(document)
        return row is not None and stage in row.stages and row.stages[stage].state == "finished"

    async def graph(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "upsert" and writes_of(Stage.STRUCTURE, args):
            await gates[Stage.STRUCTURE].wait()
        return await call(*args, **named)

    async def catalogue(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "put_memories":
            await gates[Stage.PROPOSE].wait()
        return await call(*args, **named)

    async def vectors(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "upsert" and writes_of(Stage.EMBED, args):
            await gates[Stage.EMBED].wait()
        return await call(*args, **named)

    log = Published()
    wrap = faulty(log=log, graph=graph, catalogue=catalogue, vectors=vectors)
    async with pipeline(folder, wrap=wrap, **NO_SWEEPER) as running:
        document = await running.post(TEXT, name="note")
        for stage in order:
            gates[stage].set()
            await until(lambda stage=stage: has_finished(running, document, stage), what=lambda: f"{order}: not finished")
        row = await running.ended(document)
        await running.stores.log.publish(list(reversed(log.records)))

        async def all_read() -> bool:
            groups = ((topics.DOCUMENT_ACCEPTED, "extract"), (topics.MEMORIES_EMBEDDED, "graph"), (topics.STAGE_FINISHED, "finish"))
            return not any([await running.stores.log.lag(*each) for each in groups])

        await until(all_read)
        assert (await running.ended(document, DocumentStatus.DONE)).revision == row.revision
        return await state_of(running)


async def test_check_06_events_of_one_item_in_any_order_converge(tmp_path: Path) -> None:
    """The stages behind the extractor work in every order, and all events come again in reverse: one final state."""
    expected = await undisturbed(tmp_path / "undisturbed")
    for number, order in enumerate(itertools.permutations(GATED)):
        assert await outcome_of_order(tmp_path / str(number), order) == expected, order

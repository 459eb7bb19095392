from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import MalformedEvent, ReadBackFailed
from eunoe_contracts.events import Event
from eunoe_contracts.identity import passage_id, row_key
from eunoe_contracts.stages import Stage
from eunoe_gateway import service
from eunoe_gateway.documents.ends import MOST_WRITES

TWO = "Alice likes tea.\n\nBob does not."


def ended(world: Any, status: str) -> float:
    return world.metrics.registry.get_sample_value("eunoe_documents_ended_total", {"status": status}) or 0


async def test_a_document_is_done_when_all_stages_are_and_everything_reads_back(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id)
    row = await world.row(accepted.id)
    assert (row.status, row.degraded) == ("done", ())
    assert row.counts == {"passages": 2, "sections": 0, "memories": 1, "entities": 1}
    assert ended(world, "done") == 1


async def test_it_is_open_until_the_last_stage(world: Any) -> None:
    accepted = await world.post(TWO)
    for stage in list(Stage)[:-1]:
        await world.stage(accepted.id, stage)
        assert await world.finish(accepted.id) == []
        assert not (await world.row(accepted.id)).status.is_end
    await world.stage(accepted.id, Stage.RELATE)
    await world.finish(accepted.id)
    assert (await world.row(accepted.id)).status == "done"


async def test_a_second_wake_up_changes_nothing(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id)
    before = await world.row(accepted.id)
    assert await world.finish(accepted.id) == []
    assert await world.row(accepted.id) == before
    assert ended(world, "done") == 1


@pytest.mark.parametrize("stage", [Stage.EXTRACT, Stage.EMBED, Stage.STRUCTURE])
async def test_a_required_stage_that_gave_up_fails_the_document_and_withdraws_its_rows(world: Any, stage: Stage) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id, failing={stage: "parser_crashed"})
    row = await world.row(accepted.id)
    assert (row.status, row.error_code, row.error_message) == ("failed", "parser_crashed", f"{stage} gave up")
    remains = await world.remains(accepted.id)
    assert (remains["vectors"], remains["graph"]) == (0, 0)
    assert remains["blobs"] == 1
    assert ended(world, "failed") == 1
    await world.finish(accepted.id)
    assert ended(world, "failed") == 1


@pytest.mark.parametrize("stage", [Stage.PROPOSE, Stage.EMBED_MEMORIES, Stage.RELATE])
async def test_an_optional_stage_that_gave_up_degrades(world: Any, stage: Stage) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id, failing={stage: "model_unavailable"})
    row = await world.row(accepted.id)
    assert (row.status, row.degraded) == ("done", (stage,))


@pytest.mark.parametrize("lost", ["vector", "node", "memory"])
async def test_what_cannot_be_read_back_is_not_done(world: Any, lost: str) -> None:
    accepted = await world.post(TWO)
    for stage in Stage:
        await world.stage(accepted.id, stage)
    document = UUID(accepted.id)
    key = row_key(passage_id(document, 1), 1)
    if lost == "vector":
        await world.vectors.delete_rows("t1", [key])
    elif lost == "node":
        await world.graph.delete_nodes("t1", [key])
    else:
        ((memory, _, _),) = await world.catalogue.memories_of("t1", document, 1)
        await world.vectors.delete_rows("t1", [row_key(memory.id, memory.epoch)])
    again = await world.finish(accepted.id)
    assert {each.topic for each in again} == {topics.DOCUMENT_EXTRACTED, topics.MEMORIES_PROPOSED}
    assert not (await world.row(accepted.id)).status.is_end
    for stage in (Stage.EMBED, Stage.STRUCTURE, Stage.EMBED_MEMORIES, Stage.RELATE):
        await world.stage(accepted.id, stage)
    await world.finish(accepted.id)
    assert (await world.row(accepted.id)).status == "done"


async def test_nothing_to_look_for_is_not_found(world: Any) -> None:
    accepted = await world.post(TWO)
    for stage in Stage:
        await world.stage(accepted.id, stage)
    await world.catalogue.delete_units("t1", UUID(accepted.id), through_generation=1)
    await world.finish(accepted.id)
    assert not (await world.row(accepted.id)).status.is_end


async def test_what_is_lost_again_and_again_is_told(world: Any) -> None:
    accepted = await world.post(TWO)
    for stage in Stage:
        await world.stage(accepted.id, stage)
    for _ in range(MOST_WRITES - 1):
        await world.graph.delete_nodes("t1", [row_key(UUID(accepted.id), 1)])
        assert await world.finish(accepted.id)
        for stage in (Stage.EMBED, Stage.STRUCTURE, Stage.EMBED_MEMORIES, Stage.RELATE):
            await world.stage(accepted.id, stage)
    await world.graph.delete_nodes("t1", [row_key(UUID(accepted.id), 1)])
    with pytest.raises(ReadBackFailed):
        await world.finish(accepted.id)


async def test_an_event_of_an_older_generation_does_nothing(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id, failing={Stage.EMBED: "x"})
    await world.post(TWO)
    assert await world.finish(accepted.id, generation=1) == []
    assert (await world.row(accepted.id)).status == "queued"


async def test_a_new_generation_replaces_the_older_only_when_done(world: Any) -> None:
    accepted = await world.post(TWO)
    document = UUID(accepted.id)
    for stage in (Stage.EXTRACT, Stage.EMBED):
        await world.stage(accepted.id, stage)
    await world.gateway.cancel_document(world.who, accepted.id)
    # A late writer of generation 1, after the cancel withdrew its rows.
    await world._embed(await world.row(accepted.id))
    again = await world.post(TWO)
    assert again.generation == 2
    assert (await world.remains(accepted.id))["units"] == 3
    await world.process(accepted.id)
    assert (await world.row(accepted.id)).status == "done"
    assert await world.blobs.documents("t1") == [(document, 2)]
    assert await world.catalogue.units("t1", document, 1) == []
    assert {generation for _, generation in await world.vectors.documents("t1")} == {2}


async def test_a_new_version_replaces_the_older_one_of_the_same_custom_id(world: Any) -> None:
    old = await world.post("Version one.", custom_id="notes.md")
    await world.process(old.id)
    other = await world.post("Other.", custom_id="other.md")
    await world.process(other.id)
    new = await world.post("Version two.", custom_id="notes.md")
    assert (await world.row(old.id)).status == "done"
    events: list[Event] = list(await world.process(new.id))
    assert [(each.topic, str(each.document)) for each in events] == [(topics.DOCUMENT_ERASED, old.id)]
    assert await world.row(old.id) is None
    assert (await world.row(other.id)).status == "done"
    # Back to the first version: its bytes are accepted anew, and the second goes.
    back = await world.post("Version one.", custom_id="notes.md")
    assert (back.id, back.generation) == (old.id, 2)
    await world.process(back.id)
    assert await world.row(new.id) is None
    assert (await world.row(back.id)).status == "done"


async def test_a_failed_version_replaces_nothing(world: Any) -> None:
    old = await world.post("Version one.", custom_id="notes.md")
    await world.process(old.id)
    new = await world.post("Version two.", custom_id="notes.md")
    assert await world.process(new.id, failing={Stage.EXTRACT: "empty_extraction"}) == []
    assert (await world.row(old.id)).status == "done"


async def test_an_event_without_a_document_is_refused(world: Any) -> None:
    event = Event(UUID(int=1), topics.MEMORY_CHANGED, "k", "t1", events_pb2.MemoryChanged(tenant="t1"))
    with pytest.raises(MalformedEvent):
        await service.remove_erased(event, sinks=world.sinks)
    with pytest.raises(MalformedEvent):
        await service.finish_document(event, sinks=world.sinks, now=world.clock.now(), with_vectors=True, on_end=print)

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from eunoe.v1 import admin_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import DeadLetterNotFound, InvalidField, PermissionDenied, StaleGeneration
from eunoe_contracts.stages import Stage
from eunoe_contracts.tenancy import Principal, Scope

TWO = "Alice likes tea.\n\nBob does not."


async def letters(world: Any, **conditions: Any) -> Any:
    return await world.gateway.dead_letters(world.who, admin_pb2.DeadLettersRequest(**conditions))


async def replay(world: Any, **conditions: Any) -> Any:
    return await world.gateway.replay(world.who, admin_pb2.ReplayRequest(**conditions))


async def test_a_dead_letter_says_what_and_why(world: Any) -> None:
    accepted = await world.post(TWO, name="tea.txt", container="team")
    await world.process(accepted.id, failing={Stage.EMBED: "model_unavailable"})
    found = await letters(world)
    (letter,) = found.dead_letters
    assert found.total == 1
    assert (letter.document_id, letter.document_name, letter.container) == (accepted.id, "tea.txt", "team")
    assert (letter.stage, letter.code, letter.attempts) == ("embed", "model_unavailable", 5)
    assert (await letters(world, code="other")).total == 0
    assert (await letters(world, document_id=accepted.id, code="model_unavailable")).total == 1


@pytest.mark.parametrize(
    ("stage", "topic"),
    [
        (Stage.EXTRACT, topics.DOCUMENT_ACCEPTED),
        (Stage.EMBED, topics.DOCUMENT_EXTRACTED),
        (Stage.STRUCTURE, topics.DOCUMENT_EXTRACTED),
        (Stage.PROPOSE, topics.DOCUMENT_EXTRACTED),
        (Stage.EMBED_MEMORIES, topics.MEMORIES_PROPOSED),
        (Stage.RELATE, topics.MEMORIES_EMBEDDED),
    ],
)
async def test_a_replay_reopens_the_stage_and_publishes_its_input(world: Any, stage: Stage, topic: str) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id, failing={stage: "x"})
    ended = await world.row(accepted.id)
    before = len(world.events(topic))
    dry = await replay(world, code="x", dry_run=True)
    assert (dry.matched, dry.replayed, dry.dry_run, len(dry.ids)) == (1, 0, True, 1)
    assert await world.row(accepted.id) == ended
    answer = await replay(world, code="x")
    assert (answer.matched, answer.replayed) == (1, 1)
    events = world.events(topic)
    assert len(events) == before + 1
    assert len({each.id for each in events}) == len(events)
    row = await world.row(accepted.id)
    assert not row.status.is_end
    assert row.generation == ended.generation
    # Twice is a no-op.
    again = await replay(world, code="x")
    assert (again.matched, again.replayed, len(world.events(topic))) == (0, 0, before + 1)
    named = await replay(world, ids=answer.ids)
    assert (named.matched, named.replayed) == (0, 0)
    assert (await letters(world)).total == 0
    assert (await letters(world, include_replayed=True)).dead_letters[0].replays == 1
    # And the document comes to its end, whole.
    open_stages = [each for each in Stage if (found := row.stages.get(each)) is None or found.state == "waiting"]
    for each in open_stages:
        await world.stage(accepted.id, each)
        await world.finish(accepted.id)
    row = await world.row(accepted.id)
    assert (row.status, row.degraded, row.error_code) == ("done", (), "")


async def test_a_letter_of_an_older_generation_is_not_replayed(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id, failing={Stage.EXTRACT: "x"})
    other = await world.post("other")
    await world.process(other.id, failing={Stage.EXTRACT: "x"})
    await world.post(TWO)
    stale = (await letters(world, document_id=accepted.id)).dead_letters[0].id
    answer = await replay(world, code="x")
    assert (answer.matched, answer.replayed) == (2, 1)
    with pytest.raises(StaleGeneration):
        await replay(world, ids=[stale])


async def test_letters_go_with_their_generation_once_a_newer_one_is_done(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id, failing={Stage.EXTRACT: "x"})
    await world.post(TWO)
    await world.process(accepted.id, failing={Stage.EMBED: "y"})
    assert {each.code for each in (await letters(world)).dead_letters} == {"x", "y"}
    await world.post(TWO)
    await world.process(accepted.id)
    assert (await world.row(accepted.id)).status == "done"
    assert (await letters(world, include_replayed=True)).total == 0
    assert (await replay(world, dry_run=True)).matched == 0


async def test_letters_of_a_degraded_newer_generation_stay(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id, failing={Stage.EXTRACT: "x"})
    await world.post(TWO)
    await world.process(accepted.id, failing={Stage.PROPOSE: "y"})
    assert (await world.row(accepted.id)).degraded == ("propose",)
    assert [(each.code, each.generation) for each in (await letters(world)).dead_letters] == [("y", 2)]


async def test_letters_of_a_cancelled_document_go(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.stage(accepted.id, Stage.EXTRACT)
    await world.stage(accepted.id, Stage.PROPOSE, code="x")
    assert (await letters(world)).total == 1
    await world.gateway.cancel_document(world.who, accepted.id)
    assert (await letters(world, include_replayed=True)).total == 0


async def test_letters_of_erased_documents_tell_nothing_and_stay_dead(world: Any) -> None:
    accepted = await world.post(TWO, name="secret.txt")
    await world.process(accepted.id, failing={Stage.EXTRACT: "x"})
    await world.gateway.delete_document(world.who, accepted.id)
    (letter,) = (await letters(world)).dead_letters
    assert (letter.document_name, letter.message) == ("", "")
    with pytest.raises(StaleGeneration):
        await replay(world, ids=[letter.id])
    world.clock.advance(world.settings.erase_after_s + 1)
    await world.sweeper.sweep()
    with pytest.raises(StaleGeneration):
        await replay(world, ids=[letter.id])


async def test_only_admins_see_letters_and_only_their_tenant(world: Any) -> None:
    accepted = await world.post(TWO)
    await world.process(accepted.id, failing={Stage.EXTRACT: "x"})
    owner = world.who
    world.who = Principal("t1", frozenset({Scope.INGEST, Scope.SEARCH}))
    for call in (letters(world), replay(world, code="x")):
        with pytest.raises(PermissionDenied):
            await call
    world.who = replace(owner, tenant="t2")
    assert (await letters(world)).total == 0
    assert (await replay(world)).matched == 0
    world.who = replace(owner, tenant="default", local_operator=True)
    assert (await letters(world)).total == 1
    assert (await replay(world)).replayed == 1


async def test_ids_are_checked(world: Any) -> None:
    with pytest.raises(InvalidField, match="ids"):
        await replay(world, ids=["x"])
    with pytest.raises(DeadLetterNotFound):
        await replay(world, ids=[str(UUID(int=3))])
    with pytest.raises(InvalidField, match="document_id"):
        await letters(world, document_id="x")
    with pytest.raises(InvalidField, match="limit"):
        await letters(world, limit=5000)


async def failed(world: Any, *names: str) -> list[str]:
    """Documents that fail one minute after the other."""
    made = []
    for name in names:
        accepted = await world.post(f"Text {name}.", name=name)
        await world.process(accepted.id, failing={Stage.EXTRACT: "x"})
        made.append(accepted.id)
        world.clock.advance(60)
    return made


async def test_letters_of_a_time_window_are_listed_and_replayed(world: Any) -> None:
    start = world.clock.now()
    documents = await failed(world, "first", "second", "third")
    window = {"since": start + timedelta(seconds=60), "until": start + timedelta(seconds=120)}
    assert [each.document_id for each in (await letters(world, **window)).dead_letters] == documents[1:2]
    assert (await replay(world, **window, dry_run=True)).matched == 1
    assert (await replay(world, **window)).replayed == 1
    assert (await replay(world, **window)).replayed == 0
    assert {each.document_id for each in (await letters(world)).dead_letters} == {documents[0], documents[2]}


async def test_the_operator_replays_one_tenant(world: Any) -> None:
    owner, (mine,) = world.who, await failed(world, "mine")
    with pytest.raises(PermissionDenied):
        await replay(world, tenant="t2")
    with pytest.raises(PermissionDenied):
        await letters(world, tenant="t2")
    assert (await letters(world, tenant="t1")).total == 1
    world.who = replace(owner, tenant="default", local_operator=True)
    with pytest.raises(InvalidField, match="tenant"):
        await letters(world, tenant="no such name!")
    assert [each.tenant for each in (await letters(world, tenant="t1")).dead_letters] == ["t1"]
    assert (await letters(world, tenant="t2")).total == 0
    (letter,) = (await letters(world)).dead_letters
    with pytest.raises(DeadLetterNotFound):
        await replay(world, tenant="t2", ids=[letter.id])
    assert (await replay(world, tenant="t2")).matched == 0
    assert (await replay(world, tenant="t1")).replayed == 1
    assert not (await world.row(mine)).status.is_end


async def test_a_limit_takes_the_newest_and_letters_that_moved_on_do_not_block_the_others(world: Any) -> None:
    await failed(world, "a", "b", "c", "d")
    await world.post("Text d.", name="d")
    await world.post("Text c.", name="c")  # the two newest letters are of older generations now
    dry = await replay(world, limit=1, dry_run=True)
    assert (dry.matched, len(dry.ids)) == (4, 1)
    counts = [(found.matched, found.replayed) for found in [await replay(world, limit=1) for _ in range(3)]]
    assert counts == [(4, 1), (3, 1), (2, 0)]

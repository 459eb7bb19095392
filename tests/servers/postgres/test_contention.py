"""Eight processes' worth of clients on one schema do the same thing at the same moment; the answers are those of some order."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

import pytest
from eunoe_contracts.errors import MemoryNotFound, StaleGeneration
from eunoe_contracts.stages import ClaimOutcome, DocumentStatus, FinishOutcome, Stage
from eunoe_stores.catalogue.rows import AcceptAction, Accepted, DeadLetterQuery, DocumentQuery, End, Page
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.tables import memories
from eunoe_stores.catalogue.testing import CONTAINER, MANY, NOON, TENANT, accept, memory, new_document, passage
from eunoe_stream.ledger import Failure, StageKey
from servers.postgres import Postgres
from sqlalchemy import select

pytestmark = pytest.mark.servers
T = TypeVar("T")
LATER = NOON + timedelta(hours=1)
ROUNDS = 15


async def all_at_once(clients: list[SqlCatalogue], work: Callable[[SqlCatalogue, int], Awaitable[T]]) -> list[T]:
    return list(await asyncio.gather(*(work(each, number) for number, each in enumerate(clients))))


async def persistently(catalogue: SqlCatalogue, name: str, **changes: object) -> Accepted:
    """As the gateway does it."""
    new = new_document(name, **changes)
    while True:
        plan = await catalogue.plan_accept(TENANT, new)
        try:
            return await catalogue.accept(TENANT, new, plan=plan, queue_limit=MANY, now=NOON)
        except StaleGeneration:
            continue


async def test_one_of_eight_claims_a_stage(clients: list[SqlCatalogue]):
    for number in range(ROUNDS):
        document = (await accept(clients[0], new_document(str(number)))).document.id
        key = StageKey(document, 1, Stage.EXTRACT)
        if number % 2:  # the row of the stage is there already
            await clients[0].claim(TENANT, key, owner="x", lease_s=60, now=NOON)
            await clients[0].release(TENANT, key, owner="x", failure=None, now=NOON)
        outcomes = await all_at_once(clients, lambda client, of: client.claim(TENANT, key, owner=str(of), lease_s=60, now=NOON))  # noqa: B023
        assert Counter(outcomes) == {ClaimOutcome.CLAIMED: 1, ClaimOutcome.BUSY: 7}


async def test_one_of_eight_takes_over_an_expired_lease(clients: list[SqlCatalogue]):
    document = (await accept(clients[0], new_document())).document.id
    key = StageKey(document, 1, Stage.EXTRACT)
    for number in range(ROUNDS):
        now = NOON + timedelta(hours=number)
        outcomes = await all_at_once(clients, lambda client, of: client.claim(TENANT, key, owner=f"{of}", lease_s=60, now=now))  # noqa: B023
        # Whoever has it may claim it again, so the owner of the round before is one of the eight here.
        assert Counter(outcomes) == {ClaimOutcome.CLAIMED: 1, ClaimOutcome.BUSY: 7}


async def test_sixteen_posts_of_one_document_make_one_row(clients: list[SqlCatalogue]):
    for number in range(ROUNDS):
        results = await all_at_once(clients * 2, lambda client, of: persistently(client, f"{number}", tags=(f"tag{of}",)))  # noqa: B023
        assert Counter(each.action for each in results) == {AcceptAction.CREATE: 1, AcceptAction.DEDUPLICATE: 15}
        row = await clients[0].document(TENANT, new_document(f"{number}").id)
        assert row is not None
        assert set(row.tags) == {f"tag{of}" for of in range(16)}, "no merge was lost"
    _, total = await clients[0].list_documents(TENANT, DocumentQuery(), Page())
    assert total == ROUNDS


async def test_a_failed_document_gets_one_further_generation(clients: list[SqlCatalogue]):
    for number in range(ROUNDS):
        document = (await accept(clients[0], new_document(f"{number}"))).document.id
        await clients[0].set_end(TENANT, document, 1, End(DocumentStatus.FAILED), now=NOON)
        results = await all_at_once(clients, lambda client, _: persistently(client, f"{number}"))  # noqa: B023
        assert Counter(each.action for each in results) == {AcceptAction.REACCEPT: 1, AcceptAction.DEDUPLICATE: 7}
        assert {each.document.generation for each in results} == {2}


async def test_a_document_that_is_written_anew_is_never_missing(clients: list[SqlCatalogue]):
    """Whoever waits for its row while it moves to the end of the order of acceptance finds it there."""
    new = new_document()
    await accept(clients[0], new)

    async def change(client: SqlCatalogue, of: int) -> None:
        if of < 2:
            plan = await client.plan_accept(TENANT, new, reprocess=True)
            try:
                await client.accept(TENANT, new, plan=plan, queue_limit=MANY, now=NOON)
            except StaleGeneration:
                return
        elif of < 4:
            assert await client.erase("other", new.id, now=NOON) is None
            row = await client.document(TENANT, new.id)
            assert row is not None
            await client.add_warnings(TENANT, new.id, row.generation, [f"{row.generation}"])
        else:
            row = await client.document(TENANT, new.id)
            assert row is not None
            key = StageKey(new.id, row.generation, Stage.EXTRACT)
            assert await client.claim(TENANT, key, owner=f"{of}", lease_s=60, now=NOON) in set(ClaimOutcome)

    for _ in range(ROUNDS):
        await all_at_once(clients, change)
    erased = await asyncio.gather(clients[0].erase(TENANT, new.id, now=NOON), *(change(client, 0) for client in clients[1:]))
    assert erased[0] is not None


async def test_one_of_eight_sets_the_end(clients: list[SqlCatalogue]):
    for number in range(ROUNDS):
        document = (await accept(clients[0], new_document(f"{number}"))).document.id
        ends = (End(DocumentStatus.DONE), End(DocumentStatus.FAILED, "x"))
        changed = await all_at_once(clients, lambda client, of: client.set_end(TENANT, document, 1, ends[of % 2], now=NOON))  # noqa: B023
        assert sum(changed) == 1


async def test_one_of_eight_replays_a_dead_letter(clients: list[SqlCatalogue]):
    for number in range(ROUNDS):
        document = (await accept(clients[0], new_document(f"{number}"))).document.id
        await clients[0].exhaust(TENANT, StageKey(document, 1, Stage.EMBED), Failure("x", "m", 5, NOON, NOON))
        await clients[0].set_end(TENANT, document, 1, End(DocumentStatus.FAILED, "x"), now=NOON)
        (letter,), _ = await clients[0].dead_letters(TENANT, DeadLetterQuery(document=document), Page())
        reopened = await all_at_once(clients, lambda client, _: client.reopen(TENANT, letter.id, now=LATER))  # noqa: B023
        assert sum(each is not None for each in reopened) == 1
        assert not (await clients[0].dead_letters(TENANT, DeadLetterQuery(document=document), Page()))[1]


async def test_a_replay_and_an_erasure_do_not_wait_in_a_circle(clients: list[SqlCatalogue], server: Postgres):
    before = deadlocks(server)
    for number in range(ROUNDS):
        document = (await accept(clients[0], new_document(f"{number}"))).document.id
        await clients[0].exhaust(TENANT, StageKey(document, 1, Stage.EMBED), Failure("x", "m", 5, NOON, NOON))
        await clients[0].set_end(TENANT, document, 1, End(DocumentStatus.FAILED, "x"), now=NOON)
        (letter,), _ = await clients[0].dead_letters(TENANT, DeadLetterQuery(document=document), Page())

        async def change(client: SqlCatalogue, of: int, document: UUID = document, letter: UUID = letter.id) -> None:
            if of % 2:
                await client.erase(TENANT, document, now=NOON)
            else:
                with suppress(StaleGeneration):
                    await client.reopen(TENANT, letter, now=NOON)

        await all_at_once(clients, change)
        assert await clients[0].document(TENANT, document) is None
    assert deadlocks(server) == before


def deadlocks(server: Postgres) -> object:
    server.sql("SELECT pg_stat_force_next_flush()")
    return server.sql("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")[0][0]


async def test_batches_over_the_same_documents_do_not_wait_in_a_circle(clients: list[SqlCatalogue], server: Postgres):
    documents = [(await accept(clients[0], new_document(f"{number}"))).document.id for number in range(40)]
    before = deadlocks(server)

    async def change(client: SqlCatalogue, of: int) -> None:
        order = documents if of % 2 else documents[::-1]
        stage = (Stage.EMBED, Stage.PROPOSE, Stage.STRUCTURE, Stage.RELATE)[of // 2]
        keys = [StageKey(each, 1, stage) for each in order]
        await asyncio.gather(
            *(client.claim(TENANT, key, owner=f"{of}", lease_s=60, now=NOON) for key in keys),
            *(client.mark_published(TENANT, each, 1) for each in order),
        )
        await asyncio.gather(*(client.finish(TENANT, key, owner=f"{of}", now=NOON) for key in keys))

    await all_at_once(clients, change)
    assert deadlocks(server) == before
    rows = await asyncio.gather(*(clients[0].document(TENANT, each) for each in documents))
    assert all(row is not None and row.published and len(row.stages) == 4 for row in rows)
    # Each claim, each finish and one publication raised it by one; nobody's was lost. (A second claim of a live lease changes nothing.)
    assert {row.revision for row in rows if row is not None} <= set(range(1 + 1 + 8, 1 + 1 + 16 + 1))


async def test_nothing_is_finished_behind_the_fence(clients: list[SqlCatalogue]):
    for number in range(ROUNDS):
        document = (await accept(clients[0], new_document(f"{number}"))).document.id
        key = StageKey(document, 1, Stage.EMBED)
        erased = asyncio.Event()

        async def change(
            client: SqlCatalogue, of: int, document: UUID = document, key: StageKey = key, erased: asyncio.Event = erased
        ) -> FinishOutcome | None:
            if of == 0:
                assert await client.erase(TENANT, document, now=NOON) is not None
                erased.set()
                return None
            if of > 4:
                await erased.wait()
            outcome = await client.finish(TENANT, key, owner="w", now=NOON)
            written = await client.put_units(TENANT, document, 1, [passage(document, text="late")], title="late", now=NOON)
            if of > 4:
                assert not written
            return outcome

        outcomes = await all_at_once(clients, change)
        assert set(outcomes[5:]) == {FinishOutcome.FENCED}
        assert not await clients[0].may_write(TENANT, document, 1)


async def test_a_memory_that_gets_a_source_while_it_loses_another_lives(clients: list[SqlCatalogue]):
    for number in range(ROUNDS):
        text = f"Statement {number}."
        old, new = [(await accept(clients[0], new_document(f"{name}{number}"))).document.id for name in ("old", "new")]
        (row,) = await clients[0].put_memories(TENANT, old, 1, [memory(old, text)], now=NOON)
        # In one half of the rounds the old source is erased, in the other a newer generation replaces it.
        if number % 2:
            await accept(clients[0], new_document(f"old{number}"), reprocess=True)

        async def change(
            client: SqlCatalogue, of: int, old: UUID = old, new: UUID = new, text: str = text, odd: bool = bool(number % 2)
        ) -> None:
            if of == 0:
                if not odd:
                    await client.erase(TENANT, old, now=NOON)
                await client.bury_memories(TENANT, old, through_generation=1)
                await client.drop_sources(TENANT, old, through_generation=1)
            elif of == 1:
                await client.put_memories(TENANT, new, 1, [memory(new, text)], now=NOON)

        await all_at_once(clients[:2], change)
        found = await clients[0].memories(TENANT, [row.id])
        assert (found[row.id].text, found[row.id].sources) == (text, (new,))


async def test_a_memory_whose_two_sources_are_erased_at_the_same_time_is_blank(clients: list[SqlCatalogue]):
    for number in range(ROUNDS):
        documents = [(await accept(clients[0], new_document(f"{name}{number}"))).document.id for name in ("a", "b")]
        for each in documents:
            (row,) = await clients[0].put_memories(TENANT, each, 1, [memory(each, f"Statement {number}.")], now=NOON)
        await all_at_once(clients[:2], lambda client, of: client.erase(TENANT, documents[of], now=NOON))  # noqa: B023
        statement = select(memories.c.text, memories.c.alive).where(memories.c.id == row.id)
        assert tuple(await clients[0]._database.read(lambda connection: connection.execute(statement).one())) == ("", False)  # noqa: B023


async def test_the_same_new_memories_from_eight_documents_are_one_each(clients: list[SqlCatalogue]):
    for number in range(5):
        documents = [(await accept(clients[0], new_document(f"{of}-{number}"))).document.id for of in range(8)]
        texts = [f"Statement {number}-{each}." for each in range(6)]

        async def put(client: SqlCatalogue, of: int, documents: list[UUID] = documents, texts: list[str] = texts) -> None:
            order = texts if of % 2 else texts[::-1]
            made = [memory(documents[of], each, tags=(f"tag{of}",)) for each in order]
            assert len(await client.put_memories(TENANT, documents[of], 1, made, now=NOON)) == len(texts)

        await all_at_once(clients, put)
        ids = [memory(documents[0], each).id for each in texts]
        found = await clients[0].memories(TENANT, ids)
        for each in found.values():
            assert (set(each.sources), set(each.tags), each.epoch) == (set(documents), {f"tag{of}" for of in range(8)}, 1)
        assert len(found) == len(texts)


async def test_a_memory_is_deleted_while_it_is_edited_and_put(clients: list[SqlCatalogue]):
    document = (await accept(clients[0], new_document())).document.id
    fact = memory(document, "A.")

    async def change(client: SqlCatalogue, of: int) -> None:
        if of % 3 == 0:
            await client.delete_memory(TENANT, fact.id, now=NOON)
        elif of % 3 == 1:
            await client.put_memories(TENANT, document, 1, [fact], now=NOON)
        else:
            with suppress(MemoryNotFound):
                await client.update_memory(TENANT, fact.id, tags=("edited",), now=NOON)

    for _ in range(ROUNDS):
        await all_at_once(clients, change)
    (row,) = await clients[0].put_memories(TENANT, document, 1, [fact], now=NOON)
    assert row.text == "A."


async def test_a_record_that_eight_give_up_is_one_dead_letter_without_a_name_after_the_erasure(clients: list[SqlCatalogue]):
    for number in range(ROUNDS):
        document = (await accept(clients[0], new_document(f"secret{number}"))).document.id
        failure = Failure("x", "m", 1, NOON, NOON, "", "topic")

        async def change(client: SqlCatalogue, of: int, document: UUID = document, failure: Failure = failure) -> None:
            if of == 0:
                await client.erase(TENANT, document, now=NOON)
            else:
                await client.record_poison(TENANT, group="g", failure=failure, event_id=f"{document}", document=document)

        await all_at_once(clients, change)
        (letter,), total = await clients[0].dead_letters(TENANT, DeadLetterQuery(document=document), Page())
        assert (total, letter.document_name) == (1, "")


async def test_eight_put_the_same_note(clients: list[SqlCatalogue]):
    for number in range(ROUNDS):
        await all_at_once(clients, lambda client, of: client.put_note(f"note{number}", f"{of}"))  # noqa: B023
        assert await clients[0].note(f"note{number}") in {f"{of}" for of in range(8)}


async def test_lists_are_read_from_one_state(clients: list[SqlCatalogue]):
    """The rows and their total belong together while others write."""
    stop = asyncio.Event()

    async def write(client: SqlCatalogue, of: int) -> None:
        count = 0
        while not stop.is_set():
            await accept(client, new_document(f"{of}-{count}", container=f"{CONTAINER}.{of}"))
            count += 1

    writing = asyncio.gather(*(write(each, of) for of, each in enumerate(clients[:3])))
    for _ in range(60):
        rows, total = await clients[7].list_documents(TENANT, DocumentQuery(), Page(limit=1000))
        assert len(rows) == total
    stop.set()
    await writing

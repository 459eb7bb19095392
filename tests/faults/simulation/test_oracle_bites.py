"""The simulation would notice: every variant of the product that is broken on purpose is caught within 200 seeds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from random import Random
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest
from eunoe_contracts.stages import open_status
from eunoe_gateway import publishing
from eunoe_gateway.documents import acceptance, ends, erasure, sweeper
from eunoe_gateway.documents.sinks import Sinks
from eunoe_standalone.simulation.seed import Variant, simulate
from eunoe_standalone.testing_pipeline import Faulty
from eunoe_stores.catalogue.sql import ledger_state
from eunoe_stream.runner import consuming
from eunoe_stream.runner.claims import ClaimKeeper
from eunoe_stream.runner.consuming import Consuming
from eunoe_stream.runner.failures import Failures
from eunoe_stream.runner.handling import Handling
from eunoe_stream.runner.outbox import Outbox
from eunoe_stream.runner.tracker import OffsetTracker

MOST_SEEDS = 200
Patch = tuple[Any, str, Any]


def patched(*patches: Patch) -> Callable[[], Any]:
    @contextmanager
    def context() -> Iterator[None]:
        with ExitStack() as stack:
            for owner, name, value in patches:
                stack.enter_context(patch.object(owner, name, value))
            yield

    return context


async def nothing(*_: Any, **__: Any) -> None:
    return


async def nothing_to_publish(*_: Any, **__: Any) -> Sequence[Any]:
    return []


async def none_removed(*_: Any, **__: Any) -> int:
    return 0


async def always(*_: Any, **__: Any) -> bool:
    return True


async def commit_first(self: Any, source: Any, part: Any, delivery: Any) -> None:
    part.tracker.done(delivery.offset)
    await self._commit([source])
    try:
        await self.place.insist(lambda: self._handling.run(delivery), "handling")
    finally:
        part.queues.end(delivery.record.key)
        self._advance(source, part)


run_handling = Handling.run
RUNNING: set[asyncio.Task[None]] = set()


async def ack_before_effect(self: Any, delivery: Any) -> None:
    task = asyncio.create_task(run_handling(self, delivery))
    RUNNING.add(task)
    task.add_done_callback(RUNNING.discard)


call_handler = Handling._call


async def finish_before_effect(self: Any, work: Any, claim: Any) -> Any:
    if work.key is not None:
        await self._place.insist(
            lambda: self._place.ledger.finish(work.event.tenant, work.key, owner=work.owner, now=self._place.clock.now()), "finish"
        )
    return await call_handler(self, work, claim)


async def retry_without_publish(self: Any, work: Any, failure: Any) -> None:
    if work.key is not None:
        await self._place.insist(
            lambda: self._place.ledger.release(work.event.tenant, work.key, owner=work.owner, failure=failure, now=failure.failed_at), "r"
        )


async def bury_without_ledger(self: Any, work: Any, failure: Any) -> None:
    await self._place.publish(work.stage_finished())


async def publish_and_forget(self: Any, records: Any) -> None:
    try:
        await self._log.publish(records)
    except Exception:  # noqa: BLE001 - this is what is broken
        return


async def mark_before_publish(self: Any, events: Any, then: Any) -> None:
    if then is not None:
        await then()
    await self._log.publish([publishing.encode(each) for each in events])


def commit_the_highest(self: Any, offset: int) -> None:
    self._next = max(self._next or 0, offset + 1)


def status_from_stages(self: Any, entry: Any, now: Any) -> None:
    entry.updated_at, entry.changed, self.changed_at = now, True, now
    if not self.status.is_end:
        self.status = open_status(self.states())


found_end = ends._found_end


async def look_nowhere(row: Any, states: Any, *, sinks: Sinks, with_vectors: bool) -> Any:
    async def around(call: Any, name: str, args: Any, named: Any) -> Any:
        return () if name == "missing" else await call(*args, **named)

    blind: Any = Faulty(sinks.vectors, around)
    return await found_end(row, states, sinks=replace(sinks, vectors=blind), with_vectors=with_vectors)


class _Random:
    draw = Random(1)

    @classmethod
    def id(cls, *_: Any, **__: Any) -> UUID:
        return UUID(int=cls.draw.getrandbits(128))


def every_generation(name: str, store: Any) -> Any:
    async def around(call: Any, method: str, args: Any, named: Any) -> Any:
        if method == "delete_document":
            named = {**named, "through_generation": 1_000_000}
        return await call(*args, **named)

    return Faulty(store, around) if name == "vectors" else store


def by_content(name: str, store: Any) -> Any:
    """Blobs of equal bytes are one blob; who deletes it deletes it for all."""

    async def around(call: Any, method: str, args: Any, named: Any) -> Any:
        if method == "delete":
            tenant, document = args
            doomed = {key.name for owner, key in store._blobs if owner == tenant and key.document == document}
            result = await call(*args, **named)
            for place in [each for each in store._blobs if each[1].name in doomed]:
                del store._blobs[place]
            return result
        return await call(*args, **named)

    return Faulty(store, around) if name == "blobs" else store


def reinforced(name: str, store: Any) -> Any:
    """Every run of the stage makes the document's memories more certain, a repeated one too."""

    async def around(call: Any, method: str, args: Any, named: Any) -> Any:
        result = await call(*args, **named)
        if method == "put_memories" and args[2] == 1:
            await store._database.write(
                lambda connection: [
                    connection.exec_driver_sql("UPDATE memories SET confidence = confidence + 0.01 WHERE id = ?", (each.id.hex,)).close()
                    for each in result
                ]
            )
        return result

    return Faulty(store, around) if name == "catalogue" else store


def long_leases(keeper: ClaimKeeper, ledger: Any, clock: Any, *, lease_s: float) -> None:
    claim_keeper(keeper, ledger, clock, lease_s=4 * lease_s)


claim_keeper = ClaimKeeper.__init__
LONG_LEASES: Patch = (ClaimKeeper, "__init__", long_leases)
QUICK_COMMITS: Patch = (consuming, "COMMIT_EVERY_S", 0.02)
withdraw_nothing = [(module, "withdraw", nothing) for module in (erasure, sweeper, ends)]
VARIANTS = (
    Variant("commit before the handler", patched((Consuming, "_work", commit_first))),
    Variant("acknowledge before the effect", patched((Handling, "run", ack_before_effect))),
    Variant("finish before the effect", patched((Handling, "_call", finish_before_effect))),
    Variant("random ids", patched((acceptance, "identity_of", _Random.id))),
    Variant("no fence", patched((ledger_state.Ledger, "is_fenced", lambda _, __: False))),
    Variant("no second look at the fence", patched((Handling, "_may_write", always), (Handling, "_fenced", always))),
    Variant("nothing is undone", patched((Handling, "_undo", nothing))),
    Variant("a retry is not published", patched((Failures, "_retry", retry_without_publish))),
    Variant("a dead letter without its row", patched((Failures, "_bury", bury_without_ledger))),
    Variant("a failed publish counts", patched((Outbox, "publish", publish_and_forget))),
    Variant("marked as published before it is", patched((publishing.Publisher, "_run", mark_before_publish))),
    Variant("generation ignored by a delete", around=every_generation),
    Variant("shared blob deleted", around=by_content),
    Variant("status goes back", patched((ledger_state.Ledger, "_touch", status_from_stages))),
    Variant("a memory is reinforced twice", around=reinforced),
    Variant("no reading back", patched((ends, "_found_end", look_nowhere))),
    Variant("an erasure is proved unseen", patched((erasure, "remove_generations", none_removed))),
    Variant("older generations stay", patched((ends, "_replace_older", nothing_to_publish))),
    Variant("what was cancelled is still found", patched(*withdraw_nothing)),
    # Under a claim that outlives the share of partitions, so that the record comes back before it, and with offsets committed at once.
    Variant("a busy record is dropped", patched((Failures, "busy", nothing), LONG_LEASES, QUICK_COMMITS)),
    # With offsets committed fifty times a second, so that a crash meets one between two records that are in work.
    Variant("the highest offset is committed", patched((OffsetTracker, "done", commit_the_highest), QUICK_COMMITS)),
)
SEEN_AT = {
    "no fence": 107,
    "no second look at the fence": 157,
    "nothing is undone": 63,
    "a busy record is dropped": 499,
    "the highest offset is committed": 931,
}
"""Where a seed is known it is tried first, which saves minutes; the product changes what a seed does, and then all are tried."""


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda each: each.name.replace(" ", "-"))
def test_a_broken_variant_is_caught(variant: Variant) -> None:
    for seed in (SEEN_AT.get(variant.name, 0), *range(MOST_SEEDS)):
        if outcome := simulate(seed, variant).problem:
            print(f"{variant.name}: caught by seed {seed}: {outcome}")  # noqa: T201 - shown by `pytest -s`
            return
    pytest.fail(f"{variant.name}: not caught within {MOST_SEEDS} seeds")


@pytest.mark.parametrize("seed", [68, SEEN_AT["a busy record is dropped"], SEEN_AT["the highest offset is committed"]])
def test_the_product_holds_under_the_conditions_of_the_variants(seed: int) -> None:
    assert not simulate(seed, Variant("conditions", patched(LONG_LEASES, QUICK_COMMITS))).problem

"""Posts, repetitions, erasures, replays and new versions in random order, while every store fails at random before or after its
work and the server is killed: afterwards every document has ended once and all stores agree. A seed that fails names itself.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from eunoe.v1 import admin_pb2
from eunoe_contracts import topics
from eunoe_contracts.content import STRUCTURE_KINDS
from eunoe_contracts.errors import EunoeError, StoreUnavailable
from eunoe_contracts.identity import row_key
from eunoe_contracts.stages import DocumentStatus
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_standalone.audit import audit, every_document
from eunoe_standalone.testing_pipeline import OPERATOR, UNREADABLE, Call, FastClock, Pipeline, faulty, pipeline, until
from eunoe_stores.catalogue.rows import DocumentRow, Page

DOCUMENTS = 30
STEPS = 120
KILLS = 2
FAILURES = 0.04
SPEED = 80.0
COLOURS = ("vermilion", "turquoise", "ochre", "magenta")
GROUPS = {
    topics.DOCUMENT_ACCEPTED: ("extract",),
    topics.DOCUMENT_EXTRACTED: ("embedder", "propose", "graph"),
    topics.MEMORIES_PROPOSED: ("embedder",),
    topics.MEMORIES_EMBEDDED: ("graph",),
    topics.STAGE_FINISHED: ("finish",),
    topics.DOCUMENT_ERASED: ("embedder", "graph", "extract", "erase-gateway"),
    topics.MEMORY_CHANGED: ("embedder",),
}


class Weather:
    """Fails calls at random while it is bad, half of them after their work was done."""

    def __init__(self, draw: random.Random) -> None:
        self.bad = False
        self._draw = draw

    async def __call__(self, call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if not self.bad or self._draw.random() >= FAILURES:
            return await call(*args, **named)
        if self._draw.random() < 0.5:
            await call(*args, **named)
        await asyncio.sleep(self._draw.random() * 0.005)
        raise StoreUnavailable


class Crowd:
    """What clients do. A call that fails is not repeated: it may have had its effect or not, both must be sound."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self.acknowledged: dict[str, int] = {}
        self.versions = 0

    def text(self, number: int) -> str:
        if number % 10 == 7:
            return f"{UNREADABLE} word{number}"
        colour = COLOURS[number % len(COLOURS)]
        weather = " It was cold at the lake." * (number % 5 * 40)
        return f"The station has the mark word{number}.\n\nMy favourite colour is {colour}.{weather}"

    async def step(self, running: Pipeline) -> None:
        number = self._draw.randrange(DOCUMENTS)
        known = list(self.acknowledged)
        action = self._draw.choices(("post", "version", "delete", "cancel", "replay"), (10, 4, 4, 1, 2))[0]
        try:
            if action == "post":
                self.acknowledged[str(await running.post(self.text(number), name=f"n{number}"))] = number
            elif action == "version":
                # Versions of three things; an old one comes back now and then.
                self.versions += 1
                version = self._draw.choice((self.versions, max(1, self.versions - 2)))
                await running.post(f"The gauge reads reading{version}.", custom_id=f"thing{version % 3}", name=f"v{version}")
            elif action == "replay":
                await running.parts.application.replay(OPERATOR, admin_pb2.ReplayRequest())
            elif known:
                document = self._draw.choice(known)
                call = running.parts.application.delete_document if action == "delete" else running.parts.application.cancel_document
                await call(OPERATOR, document)
        except EunoeError:
            return


async def is_quiet(running: Pipeline) -> bool:
    stores = running.stores
    far = running.parts.clock.now().replace(year=9999)
    if await stores.catalogue.count_open() or await stores.catalogue.pending_erasures(requested_before=far, limit=1):
        return False
    if any(each.store == "blobs" for each in (await audit(stores)).orphans):
        return False
    for topic, groups in GROUPS.items():
        for group in groups:
            for name in (topic, *(topics.retry_topic(topic, group, delay) for delay in topics.RETRY_DELAYS)):
                if await stores.log.lag(name, group):
                    return False
    return True


async def loudness(running: Pipeline) -> str:
    """What is not quiet."""
    listed = [row async for row in every_document(running.stores, DEFAULT_TENANT)]
    rows = [row for each in listed if (row := await running.row(each.id)) is not None and not row.status.is_end]
    return "; ".join(f"{row.id} {row.status} {[(stage.value, each.state.value) for stage, each in row.stages.items()]}" for row in rows)


async def check(running: Pipeline) -> None:
    stores = running.stores
    found = await audit(stores)
    assert (found.orphans, found.missing, found.miscounted, found.open) == ([], [], [], 0)
    rows = [row async for row in every_document(stores, DEFAULT_TENANT)]
    letters = (await running.parts.application.dead_letters(OPERATOR, admin_pb2.DeadLettersRequest(limit=1000))).dead_letters
    for row in rows:
        assert row.status.is_end
        if row.status is DocumentStatus.FAILED:
            assert any(each.document_id == str(row.id) for each in letters), f"{row.id} failed with {row.error_code} and no dead letter"
    await check_rows(running, rows)
    await check_nodes(running, rows)
    await check_search(running, rows)


async def check_rows(running: Pipeline, rows: list[DocumentRow]) -> None:
    """The index holds exactly the rows that the catalogue says."""
    stores, done = running.stores, {row.id: row for row in rows if row.status is DocumentStatus.DONE}
    expected = set()
    for row in done.values():
        units = await stores.catalogue.units(DEFAULT_TENANT, row.id, row.generation, kinds=STRUCTURE_KINDS)
        expected |= {row_key(unit.id, row.generation) for unit in units if unit.indexed}
    memories, total = await stores.catalogue.list_memories(DEFAULT_TENANT, container="", document=None, kinds=frozenset(), page=Page(1000))
    assert total == len(memories)
    wanted = [memory for memory in memories if done.keys() & set(memory.sources)]
    degraded = {row.id for row in done.values() if row.degraded}
    expected |= {row_key(memory.id, memory.epoch) for memory in wanted if not degraded & set(memory.sources)}
    missing = await stores.vectors.missing(DEFAULT_TENANT, sorted(expected), with_vectors=False)
    assert not missing, f"rows missing: {[memory.text for memory in wanted if row_key(memory.id, memory.epoch) in missing]}"
    if not degraded:
        assert await stores.vectors.count(DEFAULT_TENANT) == len(expected), "the index holds rows of nothing"


async def check_nodes(running: Pipeline, rows: list[DocumentRow]) -> None:
    """The graph holds exactly the memories that done documents hold, and no entity or session that nothing leads to."""
    stores, done = running.stores, {row.id for row in rows if row.status is DocumentStatus.DONE}
    memories, _ = await stores.catalogue.list_memories(DEFAULT_TENANT, container="", document=None, kinds=frozenset(), page=Page(1000))
    expected = {row_key(memory.id, memory.epoch).bytes for memory in memories if done & set(memory.sources)}
    with closing(sqlite3.connect(stores.path / "eunoe.db")) as database:
        found = {key for (key,) in database.execute("SELECT key FROM graph_nodes WHERE kind = 'memory'")}
        alone = database.execute(
            "SELECT count(*) FROM graph_nodes AS n WHERE document IS NULL AND NOT EXISTS"
            " (SELECT 1 FROM graph_edges AS e WHERE e.source = n.key OR e.target = n.key)"
        ).fetchone()[0]
    assert found <= expected, f"{len(found - expected)} memories of nothing are in the graph"
    if not any(row.degraded for row in rows):
        assert found == expected, f"{len(expected - found)} memories are not in the graph"
    assert not alone, f"{alone} nodes that nothing leads to"


async def check_search(running: Pipeline, rows: list[DocumentRow]) -> None:
    done = {str(row.id): row for row in rows if row.status is DocumentStatus.DONE}
    for number in range(DOCUMENTS):
        hits = await running.hits(f"word{number}")
        names = [done[hit].name for hit in hits if hit in done]
        assert len(names) == len(hits), f"word{number} finds what is not done"
        present = any(row.name == f"n{number}" for row in done.values())
        assert (f"n{number}" in names) == present
    for thing in range(3):
        versions = [row for row in done.values() if row.custom_id == f"thing{thing}"]
        assert len(versions) <= 1, f"thing{thing} has {len(versions)} versions"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
async def test_every_store_agrees_after_a_storm(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    weather, crowd, clock = Weather(random.Random(seed + 1000)), Crowd(draw), FastClock(SPEED)
    wrap = faulty(catalogue=weather, log=weather, vectors=weather, graph=weather, blobs=weather)
    for life in range(KILLS + 1):
        weather.bad = False
        async with pipeline(tmp_path, wrap=wrap, clock=clock, drain_s=0.0, orphan_interval_s=30.0) as running:
            weather.bad = True
            for _ in range(STEPS // (KILLS + 1)):
                await crowd.step(running)
                await asyncio.sleep(draw.random() * 0.02)
            if life < KILLS:
                continue
            weather.bad = False
            await until(lambda: is_quiet(running), within_s=20, what=lambda: f"seed {seed}: still at work", last=lambda: loudness(running))
            await check(running)

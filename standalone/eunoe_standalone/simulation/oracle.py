"""What must be true: while everything is in motion, and when it has come to rest."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eunoe_contracts import topics
from eunoe_contracts.stages import RANK, DocumentStatus
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_stores.catalogue.rows import DeadLetterQuery, DocumentRow, Page

from eunoe_standalone.audit import audit, every_document
from eunoe_standalone.simulation.crowd import Expected, Item
from eunoe_standalone.simulation.promise import expect
from eunoe_standalone.simulation.world import World

GROUPS = {
    topics.DOCUMENT_ACCEPTED: ("extract",),
    topics.DOCUMENT_EXTRACTED: ("embedder", "propose", "graph"),
    topics.MEMORIES_PROPOSED: ("embedder",),
    topics.MEMORIES_EMBEDDED: ("graph",),
    topics.STAGE_FINISHED: ("finish",),
    topics.DOCUMENT_ERASED: ("embedder", "graph", "extract", "erase-gateway"),
    topics.MEMORY_CHANGED: ("embedder",),
}
MANY = 1_000_000


@dataclass(slots=True)
class StatusWatcher:
    """Looks at every document after every commit: within a generation the status never goes back, unless a replay reopened it."""

    seen: dict[bytes, tuple[int, str]] = field(default_factory=dict)
    replays: dict[tuple[bytes, int], int] = field(default_factory=dict)
    ends: dict[tuple[bytes, int], int] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def __call__(self, connection: sqlite3.Connection) -> None:
        """One look."""
        for document, generation, status in connection.execute("SELECT id, generation, status FROM documents"):
            before = self.seen.get(document)
            if before == (generation, status):
                continue
            self.seen[document] = (generation, status)
            if before is not None and before[0] > generation:
                self.broken.append(f"generation of {document} went from {before[0]} to {generation}")
            if before is not None and before[0] == generation:
                self._changed(connection, (document, generation), DocumentStatus(before[1]), DocumentStatus(status))

    def _changed(self, connection: sqlite3.Connection, item: tuple[bytes, int], before: DocumentStatus, after: DocumentStatus) -> None:
        if RANK[after] > RANK[before]:
            return
        replayed = "SELECT coalesce(sum(replays), 0) FROM dead_letters WHERE document = ? AND generation = ?"
        told = connection.execute(replayed, item).fetchone()[0]
        if told <= self.replays.get(item, 0):
            self.broken.append(f"status went from {before} to {after}")
        self.replays[item] = told


async def is_quiet(world: World) -> bool:
    """Nothing is open or to be withdrawn, nothing waits on the log, every erasure is proved, every unowned blob is gone, for which a
    process must be alone.
    """
    catalogue, log = world.stores.catalogue, world.stores.log
    far = world.clock.now().replace(year=9999)
    # Cancelled documents whose rows are not withdrawn yet are among these too.
    if await catalogue.open_documents(not_updated_since=far, limit=1) or await catalogue.pending_erasures(requested_before=far, limit=1):
        return False
    for topic, groups in GROUPS.items():
        for group in groups:
            for name in (topic, *(topics.retry_topic(topic, group, delay) for delay in topics.RETRY_DELAYS)):
                if await log.lag(name, group):
                    return False
    return len(world.processes) > 1 or not any(each.store == "blobs" for each in (await audit(world.stores)).orphans)


async def loudness(world: World) -> str:
    """What is not quiet."""
    rows = [row async for row in every_document(world.stores, DEFAULT_TENANT)]
    found = []
    for each in rows:
        row = await world.stores.catalogue.document(DEFAULT_TENANT, each.id)
        if row is not None and not row.status.is_end:
            found.append(f"{row.name} {row.status} {[f'{stage.value}={one.state.value}' for stage, one in row.stages.items()]}")
    lags = []
    for topic, groups in GROUPS.items():
        for group in groups:
            lag = await world.stores.log.lag(topic, group)
            lags += [f"{group} lags {lag} on {topic}"] if lag else []
    return "; ".join((*found, *lags)) or "an erasure without its proof, or a blob without its owner"


async def check(world: World, items: Sequence[Item], *, degraded: bool = False) -> None:
    """Everything at rest agrees with itself and with what was acknowledged. Raises `Broken`."""
    watcher = world.database.watcher
    if isinstance(watcher, StatusWatcher):
        expect(not watcher.broken, "; ".join(watcher.broken[:3]))
    found = await audit(world.stores)
    expect(not found.orphans, f"orphans: {found.orphans[:3]}")
    expect(not found.missing, f"missing: {found.missing[:3]}")
    expect(not found.miscounted, f"documents that differ from their counts: {found.miscounted[:3]}")
    rows = {row.id: row async for row in every_document(world.stores, DEFAULT_TENANT)}
    await check_letters(world, rows)
    for item in items:
        check_item(item, rows)
    check_rows(world.database.raw)
    expect(degraded or not any(row.degraded for row in rows.values()), "a document is degraded after all was replayed")


async def check_letters(world: World, rows: Mapping[Any, DocumentRow]) -> None:
    """Whatever failed has one dead letter that says why; what is done has none that is open."""
    letters, _ = await world.stores.catalogue.dead_letters(DEFAULT_TENANT, DeadLetterQuery(), Page(MANY))
    for row in rows.values():
        expect(row.status.is_end, f"{row.name} has no end")
        mine = [each for each in letters if each.document == row.id and each.generation == row.generation]
        stages = [each.stage for each in mine]
        expect(len(stages) == len(set(stages)), f"{row.name} has several dead letters of one stage: {stages}")
        if row.status is DocumentStatus.FAILED and row.error_code != "read_back_failed":
            expect(any(each.code == row.error_code for each in mine), f"{row.name} failed with {row.error_code} and no dead letter")


def check_item(item: Item, rows: Mapping[Any, DocumentRow]) -> None:
    """The item is what its client was told last."""
    row = rows.get(item.id)
    name = f"item {item.number} ({item.expected})"
    if item.expected is Expected.PRESENT:
        expect(row is not None, f"{name} was accepted and is gone")
        if row is not None:
            wanted = DocumentStatus.DONE if item.is_readable else DocumentStatus.FAILED
            expect(row.status is wanted, f"{name} is {row.status} {row.error_code}")
    if item.expected is Expected.CANCELLED:
        expect(row is not None and row.status is DocumentStatus.CANCELLED, f"{name} is not cancelled but {row.status if row else 'gone'}")
    if item.expected is Expected.ERASED:
        expect(row is None, f"{name} came back")
    same = [each for each in rows.values() if each.name == item.request().info.name]
    expect(len(same) <= 1, f"{name} is there {len(same)} times")
    if item.is_versioned:
        versions = [each for each in rows.values() if each.custom_id == f"gauge{item.number}" and each.status is DocumentStatus.DONE]
        expect(len(versions) <= 1, f"{name} has {len(versions)} versions")


def check_rows(connection: sqlite3.Connection) -> None:
    """No row of the catalogue belongs to nothing."""
    for table in ("stages", "units", "memory_sources"):
        count = connection.execute(
            f"SELECT count(*) FROM {table} AS t WHERE NOT EXISTS"  # noqa: S608 - a constant
            " (SELECT 1 FROM documents AS d WHERE d.id = t.document AND d.status != 'erased' AND t.generation <= d.generation)"
        ).fetchone()[0]
        expect(count == 0, f"{count} rows of {table} belong to no document")
    alone = connection.execute(
        "SELECT count(*) FROM memories AS m WHERE alive AND NOT EXISTS (SELECT 1 FROM memory_sources AS s WHERE s.memory = m.id)"
    ).fetchone()[0]
    expect(alone == 0, f"{alone} memories without a source")

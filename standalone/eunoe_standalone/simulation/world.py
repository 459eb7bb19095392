"""Stores that outlive processes, the processes that work on them, and everything that goes wrong between the two."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.errors import StoreUnavailable
from eunoe_gateway.gateway import Gateway
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.testing import MemoryBlobStore, MemoryGraphStore, MemoryVectorIndex
from eunoe_stream.log import Consumer, Delivery
from eunoe_stream.memory import MemoryLog
from eunoe_telemetry.faults import Faults, FaultyPort, Life
from eunoe_telemetry.testing import SequentialIds
from eunoe_telemetry.virtual_time import VirtualClock

from eunoe_standalone import composition
from eunoe_standalone.composition import compose
from eunoe_standalone.data_directory import DataDirectory
from eunoe_standalone.parts import PartSettings, load_parts
from eunoe_standalone.simulation.database import WatchedDatabase
from eunoe_standalone.testing_pipeline import PlainParsers

IDLE_S = 20.0
"""How long an idle consumer may sleep at most; it is woken by a publish, so shorter sleeps only cost computing time."""
WHOLE = frozenset({"graph.upsert"})
GATEWAY = {"sweep_after_s": 15.0, "orphan_interval_s": 60.0, "erase_after_s": 100.0, "read_back_limit_s": 300.0}
RETENTION_S = 60.0
"""Short, so that a record that somebody still needs would be missed."""
LOSING = 0.5
Around = Callable[[str, Any], Any]


@cache
def _database() -> tuple[WatchedDatabase, bytes]:
    return WatchedDatabase.migrated()


def fresh_database() -> WatchedDatabase:
    """An empty catalogue. The one of before in this process is gone then."""
    database, saved = _database()
    database.load(saved)
    database.watcher = None
    return database


class FaultyConsumer(FaultyPort):
    """A consumer whose calls fail. A fetch fails before its effect only: what it returned is no durable effect to repeat."""

    async def fetch(self, limit: int, wait_s: float) -> Sequence[Delivery]:
        """See `Consumer.fetch`."""
        await self._faults.around(self._life, "log.fetch", _nothing, (), {})
        found: Sequence[Delivery] = await self._port.fetch(limit, wait_s if wait_s < 1 else IDLE_S)
        return () if self._life.over else found


class FaultyLog(FaultyPort):
    """A log whose consumers are faulty too."""

    async def consumer(self, group: str, topics: Sequence[str]) -> Consumer:
        """See `Log.consumer`."""
        found: Consumer = FaultyConsumer(await self._port.consumer(group, topics), "log", self._faults, self._life)
        return found

    async def trim(self, older_than: datetime) -> int:
        """See `MemoryLog.trim`. Undisturbed: what it does not do now it does the next time, and nobody waits for it."""
        dropped: int = 0 if self._life.over else await self._port.trim(older_than)
        return dropped

    async def lag(self, topic: str, group: str) -> int:  # noqa: ARG002 - as `Log.lag`
        """The runner only measures it, each five seconds; here that would cost more than its work."""
        return 0


async def _nothing() -> None:
    return


class ForeignBlobs(FaultyPort):
    """The blobs as a process sees them beside another one: it must not look for unowned ones, since the other may be accepting."""

    alone: Callable[[], bool]

    async def tenants(self) -> Sequence[str]:
        """See `BlobStore.tenants`."""
        found: Sequence[str] = await self._faults.around(self._life, "blobs.tenants", self._port.tenants, (), {})
        return found if self.alone() else ()


@dataclass(slots=True)
class Process:
    """A whole server: started, then stopped or killed."""

    life: Life
    task: asyncio.Task[None]
    ending: asyncio.Event
    application: Gateway

    async def stop(self) -> None:
        """As SIGTERM does."""
        self.ending.set()
        await self.task
        self.life.over = True  # a call that still hangs on some network ends with it, and not in another world

    async def kill(self) -> None:
        """As SIGKILL does: from this moment none of its calls has an effect."""
        self.life.over = True
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError, StoreUnavailable):
            await self.task


@dataclass(slots=True)
class World:
    """One simulated machine room. `around` may put an adapter of its own around a store: (name, store) -> store."""

    draw: Random
    rate: float
    around: Around = lambda _, store: store
    settings: dict[str, Any] = field(default_factory=dict)
    second_chance: bool = True
    """False: the sweeper does not repeat lost events of stages, so that the runner alone must keep its promise."""
    database: WatchedDatabase = field(default_factory=fresh_database)
    faults: Faults = field(init=False)
    clock: Clock = field(default_factory=VirtualClock)
    ids: Ids = field(default_factory=SequentialIds)
    stores: DataDirectory = field(init=False)
    processes: list[Process] = field(default_factory=list)
    _alive: int = 0
    _opening: list[Life] = field(default_factory=list)

    def __post_init__(self) -> None:
        # What a store loses after its answer is written again by the sweeper's help only.
        losing = frozenset({"vectors.upsert"}) if self.second_chance and self.draw.random() < LOSING else frozenset[str]()
        self.faults = Faults(self.draw, self.rate, losing=losing, whole=WHOLE)
        parts: dict[str, Any] = {
            "log": MemoryLog(clock=self.clock, ids=self.ids, poll_s=IDLE_S),
            "vectors": MemoryVectorIndex(),
            "graph": MemoryGraphStore(),
            "blobs": MemoryBlobStore(now=self.clock.now),
        }
        self.stores = DataDirectory(Path("/"), self._catalogue(), **{name: self.around(name, store) for name, store in parts.items()})

    def _catalogue(self) -> SqlCatalogue:
        found: SqlCatalogue = self.around("catalogue", SqlCatalogue(self.database))
        return found

    @property
    def application(self) -> Gateway:
        """Where clients are connected. Raises `StoreUnavailable` while no server runs."""
        if not self.processes:
            raise StoreUnavailable
        return self.processes[0].application

    async def start(self) -> Process:
        """Start one more server. It begins undisturbed, since a server that cannot start only starts again."""
        was_on, self.faults.on = self.faults.on, False
        life, ready, ending = Life(), asyncio.get_running_loop().create_future(), asyncio.Event()
        self._opening.append(life)
        task = asyncio.create_task(self._live(ready, ending, drain_s=5.0))
        await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        self.faults.on = was_on
        process = Process(life, task, ending, ready.result())
        self.processes.append(process)
        return process

    async def end(self, process: Process, *, kill: bool) -> None:
        """Stop or kill it; clients notice at once."""
        self.processes.remove(process)
        await (process.kill() if kill else process.stop())

    async def _live(self, ready: asyncio.Future[Gateway], ending: asyncio.Event, *, drain_s: float) -> None:
        settings = _parts()
        settings = replace(settings, gateway=settings.gateway.model_copy(update={**GATEWAY, **self.settings}))
        running = compose(
            Path("/"),
            settings,
            operator_secret="",
            low_disk_bytes=0,
            drain_s=drain_s,
            event_retention_s=RETENTION_S,
            clock=self.clock,
            ids=self.ids,
        )
        self._alive += 1
        try:
            async with running as composed:
                ready.set_result(composed.application)
                await ending.wait()
        finally:
            self._alive -= 1

    @asynccontextmanager
    async def open(self, _: Path, *, clock: Clock, ids: Ids) -> AsyncIterator[DataDirectory]:  # noqa: ARG002 - as `open_data_directory`
        """What a process sees of the stores."""
        life = self._opening.pop()
        ports: dict[str, Any] = {name: FaultyPort(getattr(self.stores, name), name, self.faults, life) for name in ("vectors", "graph")}
        ports["blobs"] = ForeignBlobs(self.stores.blobs, "blobs", self.faults, life)
        ports["blobs"].alone = lambda: self._alive == 1
        ports["log"] = FaultyLog(self.stores.log, "log", self.faults, life)
        ports["catalogue"] = FaultyPort(self._catalogue(), "catalogue", self.faults, life)
        if not self.processes:
            await self.stores.log.release_leases()
            await self.stores.catalogue.release_claims(now=clock.now())
        yield replace(self.stores, **ports)

    @contextlib.contextmanager
    def composing(self) -> Any:
        """While this lives, `compose` works on this world."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(patch.object(composition, "open_data_directory", self.open))
            stack.enter_context(patch.object(composition, "ParserPool", PlainParsers))
            if not self.second_chance:
                stack.enter_context(patch.object(composition, "stage_inputs", lambda _: {}))
            yield


@cache
def _parts() -> PartSettings:
    with patch.dict(os.environ, {"EUNOE_MODELS__PROFILE": "none"}):
        return load_parts()

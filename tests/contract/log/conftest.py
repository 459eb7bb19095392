"""The adapters under the suite of the Log port. What an adapter needs to do the same thing is in its `Rig`."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import pytest
from eunoe_contracts import topics
from eunoe_contracts.clock import Clock
from eunoe_stores.sqlite.database import SqliteDatabase
from eunoe_stream.log import Consumer, Delivery, Log
from eunoe_stream.sqlite import SqliteLog
from eunoe_stream.testing import MemoryLog
from eunoe_telemetry.clock import RandomIds, SystemClock
from eunoe_telemetry.testing import ManualClock, SequentialIds, eventually

AnyLog: TypeAlias = SqliteLog | MemoryLog
LEASE_S = 30.0
PARTITIONS = 4
TOPIC = "eunoe.test.v1"
OTHERS = (
    "one",
    "two",
    "three",
    topics.retry_topic(TOPIC, "g", timedelta(seconds=10)),
    topics.retry_topic(TOPIC, "other-group", timedelta(seconds=1)),
)
EMBEDDED = ["memory", "sqlite"]
ALL = [*EMBEDDED, pytest.param("kafka", marks=pytest.mark.servers)]
prefixes = itertools.count()


class Rig(Protocol):
    """How an adapter is handled: `make` gives one more process on the same data."""

    clock: Clock

    def make(self) -> Any: ...

    async def fetch_all(self, consumer: Consumer, limit: int = 100) -> list[Delivery]:
        """Everything that the consumer can have now."""
        ...

    async def silence(self, consumer: Consumer) -> None:
        """Nobody hears of the member for so long that it counts as dead."""
        ...

    async def idle(self, consumer: Consumer) -> Sequence[Delivery]:
        """Half of the time after which a silent member counts as dead goes by, while it fetches; what it got."""
        ...


class EmbeddedRig:
    def __init__(self, make: Callable[[], AnyLog], clock: ManualClock) -> None:
        self.make = make
        self.clock = clock

    async def fetch_all(self, consumer: Consumer, limit: int = 100) -> list[Delivery]:
        found: list[Delivery] = []
        while batch := await consumer.fetch(limit, 0):
            found += batch
        return found

    async def silence(self, consumer: Consumer) -> None:
        self.clock.advance(LEASE_S + 1)

    async def idle(self, consumer: Consumer) -> Sequence[Delivery]:
        self.clock.advance(LEASE_S / 2)
        return await consumer.fetch(100, 0)


class KafkaRig:
    """Two processes' logs, opened beforehand."""

    def __init__(self, logs: Sequence[Any], session_s: float) -> None:
        self.clock = SystemClock()
        self._logs = logs
        self._next = iter(logs)
        self._session_s = session_s
        self._silent: set[Any] = set()

    def make(self) -> Any:
        return next(self._next)

    async def fetch_all(self, consumer: Any, limit: int = 100) -> list[Delivery]:
        found: list[Delivery] = []
        log = next(each for each in self._logs if consumer in each.members())
        await eventually(lambda: self._is_settled(consumer), timeout_s=20)
        while True:
            batch = await consumer.fetch(limit, 0.1)
            found += batch
            if not batch and not await log.is_behind(consumer):
                return found

    def _is_settled(self, consumer: Any) -> bool:
        """Every partition is with a living member of the group, so that nothing is on the way from one to another."""
        members = [each for log in self._logs for each in log.members() if each.group == consumer.group and each not in self._silent]
        owned = [each.owned for each in members]
        wanted = PARTITIONS * len({name for each in members for name in each.topics})
        return sum(map(len, owned)) == wanted == len(frozenset().union(*owned))

    async def silence(self, consumer: Any) -> None:
        from eunoe_stream.kafka.testing import lose_heartbeats

        lose_heartbeats(next(each for each in self._logs if consumer in each.members()), consumer)
        self._silent.add(consumer)

    async def idle(self, consumer: Consumer) -> Sequence[Delivery]:
        return await consumer.fetch(100, self._session_s / 2)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


async def open_rig(name: str, request: pytest.FixtureRequest, stack: AsyncExitStack) -> Rig:
    clock, ids = request.getfixturevalue("clock"), SequentialIds()
    if name == "memory":
        log = MemoryLog(clock=clock, ids=ids, partitions=PARTITIONS)
        return EmbeddedRig(lambda: log, clock)
    if name == "sqlite":
        folder: Path = request.getfixturevalue("tmp_path")
        database = SqliteDatabase(folder / "eunoe.db")
        stack.push_async_callback(database.close)
        return EmbeddedRig(lambda: SqliteLog(database, clock=clock, ids=ids, partitions=PARTITIONS), clock)
    from eunoe_stream.kafka import open_kafka_log
    from eunoe_stream.kafka.testing import trial_settings, trial_topics

    address = request.getfixturevalue("servers")["kafka"].address
    settings = trial_settings(address, prefix=f"suite{next(prefixes)}.")
    await stack.enter_async_context(trial_topics(settings, [TOPIC, *OTHERS], partitions=PARTITIONS))
    logs = [await stack.enter_async_context(open_kafka_log(settings, clock=SystemClock(), ids=RandomIds())) for _ in range(2)]
    return KafkaRig(logs, settings.session_s)


@pytest.fixture(params=ALL)
async def rig(request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    async with AsyncExitStack() as stack:
        yield await open_rig(request.param, request, stack)


@pytest.fixture
def log(rig: Rig) -> Log:
    made: Log = rig.make()
    return made


@pytest.fixture(params=EMBEDDED)
async def leased(request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    """Only the adapters whose partitions are leased by the wall clock, and that trim by themselves."""
    async with AsyncExitStack() as stack:
        yield await open_rig(request.param, request, stack)


@pytest.fixture
def leased_log(leased: Rig) -> AnyLog:
    made: AnyLog = leased.make()
    return made

"""One seed: a storm over clients and servers, the calm after it, the oracle, and the same contents again without any fault."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from random import Random

from eunoe.v1 import admin_pb2
from eunoe_telemetry.virtual_time import StandsStill, run_virtually

from eunoe_standalone.simulation.crowd import ITEMS_EACH, Client, Expected, Item
from eunoe_standalone.simulation.digest import digest
from eunoe_standalone.simulation.oracle import StatusWatcher, check, is_quiet, loudness
from eunoe_standalone.simulation.promise import Broken, expect
from eunoe_standalone.simulation.world import Around, World, fresh_database
from eunoe_standalone.testing_pipeline import OPERATOR

LOOK_EVERY_S = 10.0
LIMIT_S = 1_500.0
"""More than the longest retry delay, an erasure and some leases take together."""
CALM_S = 5.0
LIVES = (1, 2, 3)
SECOND_CHANCES, STARTS, KILLS = 0.5, 0.4, 0.8
MOST_PROCESSES = 2
RATES = (0.0, 0.01, 0.03, 0.06)


@dataclass(frozen=True, slots=True)
class Variant:
    """The product, or a deliberately broken one: `patched` lives while the seed runs, `around` replaces adapters."""

    name: str = "the product"
    patched: Callable[[], AbstractContextManager[object]] = nullcontext
    around: Around = lambda _, store: store


PRODUCT = Variant()


@dataclass(frozen=True, slots=True)
class Outcome:
    """`problem` is empty when the promise held."""

    seed: int
    problem: str
    virtual_s: float
    faults: int


@dataclass(slots=True)
class Story:
    """Everything that a seed decides."""

    seed: int
    variant: Variant
    draw: Random = field(init=False)
    items: list[Item] = field(init=False)
    world: World = field(init=False)
    second_chance: bool = field(init=False)

    def __post_init__(self) -> None:
        self.draw = Random(self.seed)  # noqa: S311 - not for secrets
        clients = self.draw.choice((2, 3))
        first = self.draw.randrange(8) * ITEMS_EACH
        self.items = [Item(first + number) for number in range(clients * ITEMS_EACH)]
        self.second_chance = self.draw.random() < SECOND_CHANCES

    async def run(self) -> tuple[float, int]:
        """The storm, the calm, the checks. Returns virtual seconds and the number of faults."""
        world = self.world = World(self.draw, self.draw.choice(RATES), self.variant.around, second_chance=self.second_chance)
        world.database.watcher = StatusWatcher()
        with world.composing():
            await self._storm()
            world.faults.on = False
            await self._calm()
            await check(world, self.items)
            state = await digest(world)
            for process in list(world.processes):
                await world.end(process, kill=False)
        seconds = asyncio.get_running_loop().time()
        await self._compare(state)
        return seconds, sum(world.faults.seen.values())

    async def _storm(self) -> None:
        world = self.world
        await world.start()
        world.faults.on = True
        groups = [self.items[at : at + ITEMS_EACH] for at in range(0, len(self.items), ITEMS_EACH)]
        # Without the second chance an event that an API call failed to publish has nobody to publish it.
        clients = [Client(self._part(), lambda: world.application, each, with_replays=self.second_chance) for each in groups]
        tasks = [asyncio.create_task(each.run(self.draw.randint(3, 7))) for each in clients]
        crashing = asyncio.create_task(self._crashes())
        await asyncio.gather(*tasks)
        await crashing

    def _part(self) -> Random:
        return Random(self.draw.random())  # noqa: S311 - not for secrets

    async def _crashes(self) -> None:
        world = self.world
        for _ in range(self.draw.choice(LIVES)):
            await asyncio.sleep(self.draw.random() * 12)
            if len(world.processes) < MOST_PROCESSES and self.draw.random() < STARTS:
                await world.start()
            else:
                await world.end(self.draw.choice(world.processes), kill=self.draw.random() < KILLS)
            if not world.processes:
                await asyncio.sleep(self.draw.random() * 3)
                await world.start()

    async def _calm(self) -> None:
        """Rest, then replay what was given up during the storm, and rest again; at last with one process, which looks for unowned blobs."""
        await self._rest()
        for _ in range(3):
            answer = await self.world.application.replay(OPERATOR, admin_pb2.ReplayRequest())
            await self._rest()
            if not answer.replayed:
                break
        for process in self.world.processes[1:]:
            await self.world.end(process, kill=False)
        await self._rest()

    async def _rest(self) -> None:
        loop = asyncio.get_running_loop()
        limit = loop.time() + LIMIT_S
        while not await is_quiet(self.world):
            expect(loop.time() < limit, f"no rest: {await loudness(self.world)}" if loop.time() >= limit else "")
            await asyncio.sleep(LOOK_EVERY_S)
        await asyncio.sleep(CALM_S)

    async def _compare(self, state: dict[str, list[str]]) -> None:
        """The same contents posted in another order to a world without faults end in the same state."""
        if any(item.expected is Expected.OPEN_QUESTION for item in self.items):
            return
        present = [item for item in self.items if item.expected is Expected.PRESENT]
        self.draw.shuffle(present)
        world = World(self.draw, 0.0)
        with world.composing():
            await world.start()
            for item in present:
                await world.application.ingest(OPERATOR, item.request())
            self.world = world
            await self._rest()
            wanted = await digest(world)
            for process in list(world.processes):
                await world.end(process, kill=False)
        for part, lines in wanted.items():
            lost, extra = sorted(set(lines) - set(state[part])), sorted(set(state[part]) - set(lines))
            expect(not lost and not extra, f"{part} differ: lost {lost[:2]}, extra {extra[:2]}")
            expect(len(lines) == len(state[part]), f"{part} has duplicates")


def simulate(seed: int, variant: Variant = PRODUCT) -> Outcome:
    """Run one seed. The same seed does the same, in every process."""
    fresh_database()
    story = Story(seed, variant)
    with variant.patched(), _silence():
        try:
            seconds, faults = run_virtually(story.run())
        except Broken as error:
            return Outcome(seed, str(error), 0.0, 0)
        except StandsStill:
            return Outcome(seed, "everything stands still", 0.0, 0)
    return Outcome(seed, "", seconds, faults)


def how_to_run(outcome: Outcome) -> str:
    """What a person needs to see the failure again."""
    return f"seed {outcome.seed}: {outcome.problem}\n  again: make faults SEEDS=1 FIRST={outcome.seed}"


@contextmanager
def _silence() -> Iterator[None]:
    """Thousands of injected faults are no news."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)

"""Seeded faults around any port. For simulations; for users of eunoe too.

A call can fail before its effect, after its effect, have it twice, late, half (a batch), hang until whoever waits gives up, or lose it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from eunoe_contracts.errors import StoreUnavailable

Call = Callable[..., Awaitable[Any]]
KINDS = ("before", "after", "twice", "late", "half", "hang")
HANG_S = 90.0
"""Longer than any handler's deadline and than a lease: the caller is cancelled, or somebody else took its work meanwhile."""
LATE_S = 3.0
LATENCY_S = 0.2
SLOW = 0.2
"""Share of calls that take up to `LATENCY_S`, so that everything overlaps with everything."""


@dataclass(slots=True)
class Trap:
    """Calls `spring` once, right after the effect of so many `calls` more, whose answers are still on their way.

    Only calls named in `counted` (`port.method`) count; without names, all do.
    """

    spring: Callable[[], None]
    calls: int
    counted: frozenset[str] = frozenset()
    sprung: asyncio.Event = field(default_factory=asyncio.Event)

    def count(self, label: str) -> None:
        """One call had its effect."""
        if self.sprung.is_set() or (self.counted and label not in self.counted):
            return
        self.calls -= 1
        if self.calls <= 0:
            self.sprung.set()
            self.spring()


@dataclass(slots=True)
class Life:
    """A process whose end can be simulated: once it is over, no call of it has an effect any more, nor an answer."""

    over: bool = False
    trap: Trap | None = None
    """Springs in the midst of its work."""
    cut_off: dict[str, float] = field(default_factory=dict)
    """Ports that it cannot reach, each until a time of the loop: a call waits, as on a connection on which nothing comes."""

    async def reach(self, port: str) -> None:
        """Wait until the port can be reached."""
        now = asyncio.get_running_loop().time()
        if (until := self.cut_off.get(port, now)) > now:
            await asyncio.sleep(until - now)

    def had_effect(self, label: str) -> None:
        """A call, `port.method`, is done."""
        if self.trap is not None and not self.over:
            self.trap.count(label)


@dataclass(slots=True)
class Faults:
    """Decides what goes wrong. `rate` is the share of calls; `weights` say how often each of `KINDS` among these.

    Calls named in `losing` (`port.method`) are lost instead: acknowledged, and the effect is not there. Those in `whole` are never done by
    half, as every adapter does them in one transaction.
    """

    draw: Random
    rate: float
    weights: Sequence[float] = (3, 3, 2, 4, 2, 0.3)
    losing: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    on: bool = False
    seen: Counter[str] = field(default_factory=Counter)

    async def around(self, life: Life, label: str, call: Call, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """Do the call, or what goes wrong with it. `label` is `port.method`."""
        kind = self._kind(label)
        if kind:
            self.seen[f"{label} {kind}"] += 1
        await self._wait(kind)
        await life.reach(label.partition(".")[0])
        if life.over or kind == "before":
            raise StoreUnavailable
        if kind == "lost":
            return None
        result = await call(*(_halved(args) if kind == "half" and label not in self.whole else args), **named)
        if kind == "twice":
            await _again(call, args, named)
        life.had_effect(label)
        # A process that was killed meanwhile gets no answer.
        if kind in {"half", "after"} or life.over:
            raise StoreUnavailable
        return result

    async def _wait(self, kind: str) -> None:
        if kind == "hang":
            await asyncio.sleep(HANG_S)
        elif kind == "late":
            await asyncio.sleep(self.draw.random() * LATE_S)
        elif self.on and self.draw.random() < SLOW:
            await asyncio.sleep(self.draw.random() * LATENCY_S)

    def _kind(self, label: str) -> str:
        if not self.on or self.draw.random() >= self.rate:
            return ""
        if label in self.losing:
            return "lost"
        return self.draw.choices(KINDS, self.weights)[0]


class FaultyPort:
    """A port whose awaited calls, and contexts, go through `faults`; everything else is the port's own."""

    def __init__(self, port: Any, name: str, faults: Faults, life: Life) -> None:
        self._port = port
        self._name = name
        self._faults = faults
        self._life = life

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        label = f"{self._name}.{name}"
        if inspect.iscoroutinefunction(found):

            async def call(*args: Any, **named: Any) -> Any:
                return await self._faults.around(self._life, label, found, args, named)

            return call
        if hasattr(found, "__wrapped__") and inspect.isasyncgenfunction(inspect.unwrap(found)):  # made by `asynccontextmanager`

            @asynccontextmanager
            async def context(*args: Any, **named: Any) -> AsyncIterator[Any]:
                await self._faults.around(self._life, label, _nothing, (), {})
                async with found(*args, **named) as value:
                    yield value

            return context
        return found


async def _nothing() -> None:
    return


async def _again(call: Call, args: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """A request that the network delivered twice: only the first answer reaches the caller, whatever the second is."""
    if any(hasattr(each, "__anext__") for each in args):
        return  # a stream is read once; the port's own side would have to send it again
    try:
        await call(*args, **named)
    except Exception:  # noqa: BLE001 - nobody is there to hear it
        return


def _halved(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The first half of every list among the arguments."""
    return tuple(each[: len(each) // 2] if isinstance(each, (list, tuple)) else each for each in args)

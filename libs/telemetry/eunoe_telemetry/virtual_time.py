"""Virtual time: an event loop on which waiting costs nothing, and a `Clock` that reads it. For simulations; for users of eunoe too.

All code on the loop, asyncio's own timeouts included, sees one time that jumps to the next timer whenever nothing is left to do. So
a run depends on its inputs only, as long as it starts no threads; `asyncio.to_thread` runs in place.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from contextvars import Context
from datetime import datetime, timedelta
from typing import Any, TypeVar, TypeVarTuple

from eunoe_telemetry.testing import START

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
SHORTEST_S = 1e-6


class StandsStill(Exception):
    """Nothing is left to do and no timer is set: what the run waits for will never come."""


class _Jumping(selectors.DefaultSelector):
    """Moves the loop's time instead of waiting. With `patience_s` it first waits that long in real time for other threads."""

    def __init__(self, patience_s: float) -> None:
        super().__init__()
        self._patience_s = patience_s
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout <= 0:
            return super().select(0)
        ready = super().select(self._patience_s)
        if ready:
            return ready
        if timeout is None:
            raise StandsStill
        self.now += timeout
        return []


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop in virtual time, which starts at 0. Set `patience_s` when threads (a real database) work for the loop."""

    def __init__(self, *, patience_s: float = 0.0) -> None:
        self._jumping = _Jumping(patience_s)
        super().__init__(self._jumping)

    def time(self) -> float:
        """Virtual seconds."""
        return self._jumping.now

    def call_later(
        self, delay: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """See `AbstractEventLoop.call_later`; a delay, if there is one, lasts a microsecond at least.

        asyncio calls what is due within a nanosecond at once, and a float has its precision. So without that time would not move, and
        a loop that waits for the rest before a deadline would never end.
        """
        return self.call_at(self.time() + (max(delay, SHORTEST_S) if delay > 0 else delay), callback, *args, context=context)

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]  # noqa: ARG002
        """Run it here and now: a thread would make the order of things depend on the machine."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - it goes to whoever awaits
            future.set_exception(error)
        return future


class VirtualClock:
    """`Clock` on the running loop's time."""

    def now(self) -> datetime:
        """Virtual wall time, aware, UTC."""
        return START + timedelta(seconds=asyncio.get_running_loop().time())

    def monotonic(self) -> float:
        """Virtual seconds."""
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        """Let others run until that time."""
        await asyncio.sleep(seconds)


def run_virtually(main: Coroutine[Any, Any, T], *, patience_s: float = 0.0) -> T:
    """Run to the end on a fresh `VirtualTimeLoop`. Raises what `main` raises, and `StandsStill`."""
    with asyncio.Runner(loop_factory=lambda: VirtualTimeLoop(patience_s=patience_s)) as runner:
        return runner.run(main)

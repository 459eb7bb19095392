"""Keep the event loop free: long computations go to a thread, short ones stay, because the change of thread costs more than they do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

SHORT_TEXT = 8_000
"""Characters that our own text functions pass in about a millisecond."""


async def off_loop(size: int, function: Callable[[*Ts], T], *args: *Ts) -> T:
    """The function's result. `size` is the number of characters it works on; up to `SHORT_TEXT` it runs at once, on the loop."""
    if size <= SHORT_TEXT:
        return function(*args)
    return await asyncio.to_thread(function, *args)

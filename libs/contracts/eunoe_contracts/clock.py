"""Time and fresh ids as ports, so that handlers stay pure and tests control both."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Source of time."""

    def now(self) -> datetime:
        """Current time, aware, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back; only differences mean something."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait that long on this clock."""
        ...


class Ids(Protocol):
    """Source of fresh ids for things that have no natural identity (uploads, tokens, owners of a lease)."""

    def new(self) -> str:
        """An id never given before: 32 hex digits."""
        ...

"""The real clock and the real source of ids."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from uuid import uuid4


class SystemClock:
    """`Clock` on the machine's clocks."""

    def now(self) -> datetime:
        """Current time, aware, UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds of the monotonic clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """`asyncio.sleep`."""
        await asyncio.sleep(seconds)


class RandomIds:
    """`Ids` from random UUIDs (RFC 9562, version 4)."""

    def new(self) -> str:
        """32 random hex digits."""
        return uuid4().hex

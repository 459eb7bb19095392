"""How long the embedded log keeps what is done with. A broker does this by itself; files would grow for ever."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from eunoe_contracts.clock import Clock
from eunoe_contracts.errors import as_eunoe_error
from eunoe_stream.runner.insistence import where

LONGEST_PAUSE_S = 3_600.0

logger = logging.getLogger(__name__)


class TrimmedLog(Protocol):
    """A log that can forget."""

    async def trim(self, older_than: datetime) -> int:
        """Delete records published before `older_than` that every group of their topic has committed; returns how many."""
        ...


@dataclass(frozen=True, slots=True)
class Retention:
    """Drops records older than `keep_s` seconds once every group has them behind it.

    What a group has still to read stays, however old, and so do dead topics, which no group reads.
    """

    log: TrimmedLog
    clock: Clock
    keep_s: float

    async def run(self) -> None:
        """Pass after pass, the first at once, so that a process that lives for one command does its part; for ever."""
        while True:
            await self.trim()
            await self.clock.sleep(min(self.keep_s, LONGEST_PAUSE_S))

    async def trim(self) -> None:
        """One pass. When it fails, the next one does its work."""
        try:
            dropped = await self.log.trim(self.clock.now() - timedelta(seconds=self.keep_s))
        except Exception as error:  # noqa: BLE001 - a defect today must not let the log grow for ever
            logger.warning("retention: %s%s", as_eunoe_error(error).code, where(error))
        else:
            if dropped:
                logger.info("retention: dropped %d records of the log", dropped)

"""Keeps the client library's log bearable: in an outage it writes some hundred equal lines a second, and at DEBUG it writes content."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import aiokafka.admin
import aiokafka.consumer.fetcher
import aiokafka.consumer.group_coordinator
import aiokafka.producer.sender  # noqa: F401 - their loggers must exist before they are limited

CLIENT = "aiokafka"
BURST = 3
PERIOD_S = 30.0


class RateLimit(logging.Filter):
    """Lets three lines of a kind (the text before its arguments) pass in 30 s, and the next one says how many were left out.

    Lines at DEBUG never pass: they hold keys and values of records.
    """

    def __init__(self, *, burst: int = BURST, period_s: float = PERIOD_S, monotonic: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._burst = burst
        self._period_s = period_s
        self._monotonic = monotonic
        self._kinds: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """See the class."""
        if record.levelno <= logging.DEBUG:
            return False
        kind = (record.name, str(record.msg))
        now = self._monotonic()
        since, count = self._kinds.get(kind, (now, 0))
        if now - since >= self._period_s:
            if count > self._burst:
                record.msg = f"{record.msg} (left out since: {count - self._burst})"
            since, count = now, 0
        self._kinds[kind] = (since, count + 1)
        return count < self._burst


def limit_client_logs() -> None:
    """Put one `RateLimit` on every logger of the client. May be called again."""
    # A filter on a parent is not asked for what its children log.
    for name in [CLIENT, *(each for each in logging.root.manager.loggerDict if each.startswith(f"{CLIENT}."))]:
        found = logging.getLogger(name)
        if not any(isinstance(each, RateLimit) for each in found.filters):
            found.addFilter(RateLimit())

"""A thread cannot be cancelled. What it calls all the time can end it."""

from __future__ import annotations

import threading

from eunoe_models.embedding.port import TokenCounter


class Stopped(Exception):
    """Ends a thread whose result nobody waits for any more."""


class StoppableCounter:
    """A `TokenCounter` that raises `Stopped` at the next call once `stop` is set."""

    def __init__(self, tokens: TokenCounter, stop: threading.Event) -> None:
        self._tokens = tokens
        self._stop = stop

    @property
    def window(self) -> int:
        """See `TokenCounter.window`."""
        return self._tokens.window

    def count(self, text: str) -> int:
        """See `TokenCounter.count`."""
        return self._working().count(text)

    def cut(self, text: str, tokens: int) -> int:
        """See `TokenCounter.cut`."""
        return self._working().cut(text, tokens)

    def cut_tail(self, text: str, tokens: int) -> int:
        """See `TokenCounter.cut_tail`."""
        return self._working().cut_tail(text, tokens)

    def _working(self) -> TokenCounter:
        if self._stop.is_set():
            raise Stopped
        return self._tokens

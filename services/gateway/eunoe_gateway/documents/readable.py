"""Which formats the extractors at work can read, as they say themselves: what none could read is refused, not left to fail later."""

from __future__ import annotations

import asyncio

from eunoe_contracts.capabilities import EXTRACTOR, of_all
from eunoe_contracts.clock import Clock
from eunoe_contracts.errors import CapabilityUnavailable
from eunoe_stores.catalogue.port import CapabilityCatalogue

KNOWN_S = 5.0
"""How long an answer is good for. Before a refusal it is asked for again."""


class ReadableFormats:
    """Remembers what the catalogue said a moment ago, so that accepting costs no read of its own."""

    def __init__(self, catalogue: CapabilityCatalogue, clock: Clock) -> None:
        self._catalogue = catalogue
        self._clock = clock
        self._one_at_a_time = asyncio.Lock()
        self._known: frozenset[str] | None = None
        self._known_until: float | None = None

    async def require(self, format_id: str) -> None:
        """Raise `CapabilityUnavailable` for a format that not every living extractor reads: any of them may get the document.

        While no extractor ever said anything, as on a new cluster, everything is accepted and waits for the first one.
        """
        if self._known_until is None or self._clock.monotonic() >= self._known_until:
            await self._ask()
        if self._refuses(format_id):
            await self._ask()
        if self._known is not None and self._refuses(format_id):
            names = ", ".join(sorted(self._known)) or "none"
            raise CapabilityUnavailable(f"No extractor at work can be relied on to read {format_id}; at present they read: {names}.")

    def _refuses(self, format_id: str) -> bool:
        return self._known is not None and format_id not in self._known

    async def _ask(self) -> None:
        asked_at = self._clock.monotonic()
        async with self._one_at_a_time:
            if self._known_until is not None and self._known_until > asked_at + KNOWN_S:
                return  # somebody asked meanwhile
            self._known = of_all(await self._catalogue.capabilities(EXTRACTOR))
            self._known_until = self._clock.monotonic() + KNOWN_S

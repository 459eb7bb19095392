"""Whose turn it is: of several gateways one sweeps. It saves work only; two that sweep at once do no harm."""

from __future__ import annotations

from dataclasses import dataclass

from eunoe_contracts.clock import Clock
from eunoe_stores.catalogue.port import Catalogue

NAME = "sweeper"
PASSES = 4
"""How many passes without a word a gateway may miss before another one takes over."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The lease of the sweeper among all gateways of one catalogue; a gateway that is `alone` always has it."""

    catalogue: Catalogue
    clock: Clock
    owner: str
    interval_s: float
    alone: bool

    async def is_mine(self) -> bool:
        """Whether this gateway sweeps now. Raises `StoreUnavailable`."""
        if self.alone:
            return True
        return await self.catalogue.take_lease(NAME, owner=self.owner, lease_s=PASSES * self.interval_s, now=self.clock.now())

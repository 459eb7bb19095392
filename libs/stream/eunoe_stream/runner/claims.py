"""Claims on ledger rows: held while a handler runs, renewed in the background."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from eunoe_contracts.clock import Clock
from eunoe_contracts.errors import as_eunoe_error

from eunoe_stream.ledger import StageKey, StageLedger

logger = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class Claim:
    """One held row. `lost` when another owner has it now; the running handler is then stopped through its `limit`."""

    tenant: str
    key: StageKey
    owner: str
    renewed_at: float
    lost: bool = False
    limit: asyncio.Timeout | None = field(default=None)


class ClaimKeeper:
    """All claims of a process. One task renews them, however many there are."""

    def __init__(self, ledger: StageLedger, clock: Clock, *, lease_s: float) -> None:
        self._ledger = ledger
        self._clock = clock
        self.lease_s = lease_s
        self._held: dict[Claim, None] = {}

    @contextmanager
    def hold(self, tenant: str, key: StageKey, owner: str) -> Iterator[Claim]:
        """Renew the claim, just made, while the block runs."""
        claim = Claim(tenant, key, owner, self._clock.monotonic())
        self._held[claim] = None
        try:
            yield claim
        finally:
            self._held.pop(claim, None)

    async def run(self) -> None:
        """Renew until cancelled; a claim is renewed when a third to two thirds of its lease are over."""
        third = self.lease_s / 3
        while True:
            await self._clock.sleep(third)
            now = self._clock.monotonic()
            # Exceptions are handled one by one in `_renew`; whatever slips through must not end the renewing of all others.
            due = [each for each in self._held if now - each.renewed_at >= third]
            await asyncio.gather(*(self._renew(each) for each in due), return_exceptions=True)

    async def _renew(self, claim: Claim) -> None:
        started = self._clock.monotonic()
        try:
            kept = await self._ledger.renew(claim.tenant, claim.key, owner=claim.owner, lease_s=self.lease_s, now=self._clock.now())
        except Exception as error:  # noqa: BLE001 - the next round tries again; the lease may outlast the trouble
            logger.warning("renewing a claim failed (%s)", as_eunoe_error(error).code)
            return
        if kept:
            claim.renewed_at = started
        elif claim in self._held:
            claim.lost = True
            if claim.limit is not None and not claim.limit.expired():
                claim.limit.reschedule(asyncio.get_running_loop().time())

"""What happens to one record, from decoding to the point where its offset may be committed."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Sequence

from eunoe_contracts.errors import EunoeError, InternalError, MalformedEvent, PayloadTooLarge, PoisonEvent, WorkContinues, as_eunoe_error
from eunoe_contracts.events import Event, Record, decode, encode
from eunoe_contracts.stages import ClaimOutcome, FinishOutcome

from eunoe_stream.ledger import StageKey
from eunoe_stream.log import Delivery
from eunoe_stream.runner.claims import Claim
from eunoe_stream.runner.failures import Failures
from eunoe_stream.runner.insistence import where
from eunoe_stream.runner.work import Work, Workplace

logger = logging.getLogger(__name__)
_deliveries = itertools.count()
"""Numbers the deliveries of this process; with the instance they name the owner of a claim."""


class Handling:
    """Claim, handler, fence, outputs, ledger, `stage.finished`, in this order, so that a crash at any point only repeats."""

    def __init__(self, place: Workplace) -> None:
        self._place = place
        self._failures = Failures(place)

    async def run(self, delivery: Delivery) -> None:
        """Return when the record is dealt with; raises only `CancelledError`, with the claim given back."""
        try:
            event = decode(delivery.record, topic=self._place.subscription.topic)
            key = self._key(event)
        except PoisonEvent as error:
            await self._failures.poison(delivery, error)
            return
        while not await self._attempt(delivery, event, key):
            pass

    def _key(self, event: Event) -> StageKey | None:
        if (stage := self._place.subscription.stage) is None:
            return None
        if event.document is None:
            raise MalformedEvent(f"record on {event.topic} names no document")
        return StageKey(event.document, event.generation, stage)

    async def _attempt(self, delivery: Delivery, event: Event, key: StageKey | None) -> bool:
        place = self._place
        probe = await place.circuit.admit()
        # An owner of its own for every delivery: two deliveries of one event must not share a claim.
        work = Work(delivery, event, key, f"{place.instance}-{next(_deliveries)}", probe)
        try:
            if key is None:
                return await self._handle(work, None)
            outcome = await place.insist(
                lambda: place.ledger.claim(event.tenant, key, owner=work.owner, lease_s=place.claims.lease_s, now=place.clock.now()),
                "claim",
            )
            if outcome is not ClaimOutcome.CLAIMED:
                await self._not_claimed(work, outcome)
                return True
            with place.claims.hold(event.tenant, key, work.owner) as claim:
                return await self._handle(work, claim)
        except asyncio.CancelledError:
            if probe:
                place.circuit.probe_ended()
            await place.let_go(work)
            raise

    async def _not_claimed(self, work: Work, outcome: ClaimOutcome) -> None:
        if outcome is ClaimOutcome.BUSY:
            await self._failures.busy(work)
            return
        if outcome is ClaimOutcome.FENCED:
            await self._clear(work)
        else:
            # Finished or exhausted: a crash may have come between the ledger row and this record.
            await self._place.publish(work.stage_finished())
        self._place.circuit.neutral(work.subject, probe=work.probe)
        self._place.count("fenced" if outcome is ClaimOutcome.FENCED else "duplicate")

    async def _clear(self, work: Work) -> None:
        """An earlier delivery may have written behind the fence and then been killed, or lost its claim, before it could undo.

        What a finished stage wrote is left to whoever set the fence: it may be readable until a newer generation is done.
        """
        if (key := work.key) is None or self._place.subscription.undo is None:
            return
        ended = await self._place.insist(
            lambda: self._place.ledger.stage_outcomes(work.event.tenant, key.document, key.generation), "ledger"
        )
        if ended.get(key.stage) is not ClaimOutcome.FINISHED:
            await self._place.insist(lambda: self._undo(work), "undo")

    async def _handle(self, work: Work, claim: Claim | None) -> bool:
        result = await self._call(work, claim)
        if claim is not None and claim.lost:
            await self._failures.busy(work)
            return True
        if not await self._may_write(work):
            return await self._fenced(work)
        if isinstance(result, EunoeError):
            return await self._failures.failed(work, result)
        return await self._complete(work, result)

    async def _call(self, work: Work, claim: Claim | None) -> Sequence[Record] | EunoeError:
        place = self._place
        started = place.clock.monotonic()
        advance = place.subscription.advance
        advanced = advance() if advance is not None else 0
        limit: asyncio.Timeout | None = None
        try:
            async with asyncio.timeout(place.subscription.deadline_s) as limit:
                if claim is not None:
                    claim.limit = limit
                return [encode(each) for each in await place.subscription.handler(work.event)]
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return InternalError("something inside the handler was cancelled")
        except Exception as error:  # noqa: BLE001 - Failures decides by its type
            if limit is not None and limit.expired() and advance is not None and advance() > advanced:
                return WorkContinues()
            found = as_eunoe_error(error)
            if isinstance(found, InternalError):
                logger.warning("%s: %s%s", place.label, found.message, where(error))
            return found
        finally:
            if claim is not None:
                claim.limit = None
            place.metrics.observe("stage_duration_seconds", place.clock.monotonic() - started, stage=place.label)

    async def _may_write(self, work: Work) -> bool:
        if (key := work.key) is None:
            return True
        return await self._place.insist(lambda: self._place.ledger.may_write(work.event.tenant, key.document, key.generation), "fence")

    async def _complete(self, work: Work, outputs: Sequence[Record]) -> bool:
        place = self._place
        try:
            await place.publish(outputs)
        except PayloadTooLarge as error:
            return await self._failures.failed(work, error)
        if (key := work.key) is not None:
            finished = await place.insist(
                lambda: place.ledger.finish(work.event.tenant, key, owner=work.owner, now=place.clock.now()), "finish"
            )
            if not finished:
                return await self._fenced(work)
            if finished is FinishOutcome.SETTLED:
                await place.publish(work.stage_finished())
        place.circuit.succeeded(work.subject, probe=work.probe)
        place.count("ok")
        return True

    async def _fenced(self, work: Work) -> bool:
        """A newer generation, an erasure or an end came while the handler worked: what it wrote goes, its outputs are dropped."""
        await self._place.insist(lambda: self._undo(work), "undo")
        await self._place.release(work)
        self._place.circuit.neutral(work.subject, probe=work.probe)
        self._place.count("fenced")
        return True

    async def _undo(self, work: Work) -> None:
        subscription = self._place.subscription
        if subscription.undo is not None:
            async with asyncio.timeout(subscription.deadline_s):
                await subscription.undo(work.event)

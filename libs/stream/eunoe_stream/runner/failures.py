"""The one place where an error becomes a retry, a dead letter or a pause."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from eunoe_contracts.errors import ContentError, EunoeError, PayloadTooLarge, PoisonEvent, WorkContinues
from eunoe_contracts.events import HEADER_EVENT_ID, HEADER_TENANT, HEADER_TRACE

from eunoe_stream.ledger import Failure
from eunoe_stream.log import Delivery
from eunoe_stream.runner.dead_letters import dead_notice, dead_record
from eunoe_stream.runner.retry import attempts_of, first_failure_of, origin_of
from eunoe_stream.runner.work import Work, Workplace

LONGEST_OUTAGE = timedelta(hours=6)
"""How long an item is tried again while something that it needs is away."""
LONGEST_WORK = timedelta(days=3)
"""How long an item goes on while its work goes forward: its turn may come late behind a long queue."""


class Verdict(StrEnum):
    """`retry`: later it may work. `go_on`: it works, and was stopped meanwhile. `dead`: it never will, or was tried often enough."""

    RETRY = "retry"
    GO_ON = "go_on"
    DEAD = "dead"


def decide(error: EunoeError, *, attempts: int, max_attempts: int, failing: timedelta = timedelta(0)) -> Verdict:
    """By the type of the error and the number of attempts that have failed, this one included; of an outage by the time `failing`,
    since a store that is away for an hour must not turn its queue into dead letters.
    """
    if isinstance(error, WorkContinues) and failing < LONGEST_WORK:
        return Verdict.GO_ON
    again = attempts < max_attempts or (error.is_outage and failing < LONGEST_OUTAGE)
    return Verdict.RETRY if error.retryable and again else Verdict.DEAD


class Failures:
    """Carries the verdict out for one subscription."""

    def __init__(self, place: Workplace) -> None:
        self._place = place

    async def failed(self, work: Work, error: EunoeError) -> bool:
        """The handler failed. True: the record is dealt with. False: the stage is paused, run the record again when admitted."""
        place = self._place
        failure = self._failure(work.delivery, error)
        failing = failure.failed_at - failure.first_failed_at
        verdict = decide(error, attempts=failure.attempts, max_attempts=place.subscription.max_attempts, failing=failing)
        if verdict is Verdict.GO_ON:
            await self._go_on(work, failure)
            return True
        if isinstance(error, (ContentError, PoisonEvent)):
            place.circuit.neutral(work.subject, probe=work.probe)
        elif verdict is Verdict.RETRY and work.probe:
            place.circuit.probe_failed()
            return await self._keep(work)
        elif verdict is Verdict.DEAD and place.circuit.failed(work.subject, error.code, probe=work.probe):
            return await self._keep(work)
        if verdict is Verdict.RETRY:
            await self._retry(work, failure)
        else:
            await self._bury(work, failure)
        return True

    async def busy(self, work: Work) -> None:
        """Somebody else holds the work: look again after the first delay; this is no failed attempt."""
        await self._look_again(work, first_failed_at=None)
        self._place.count("busy")

    async def poison(self, delivery: Delivery, error: PoisonEvent) -> None:
        """The record cannot be read."""
        failure = self._failure(delivery, error)
        await self._record_poison(delivery, failure, document=None)
        await self._publish_dead(delivery, failure)
        self._place.count("poison")
        self._place.metrics.count("dead_letters_total", stage=self._place.label, code=failure.code)

    def _failure(self, delivery: Delivery, error: EunoeError) -> Failure:
        now = self._place.clock.now()
        return Failure(
            code=error.code,
            message=error.message,
            attempts=attempts_of(delivery.record) + 1,
            first_failed_at=min(first_failure_of(delivery.record) or now, now),  # a clock set back must not make it later than the last
            failed_at=now,
            trace=delivery.record.headers.get(HEADER_TRACE, ""),
            topic=self._place.subscription.topic,
        )

    async def _go_on(self, work: Work, failure: Failure) -> None:
        await self._place.release(work)
        await self._look_again(work, first_failed_at=failure.first_failed_at)
        self._place.count("continued")

    async def _look_again(self, work: Work, *, first_failed_at: datetime | None) -> None:
        place = self._place
        now = place.clock.now()
        record = place.policy.record(work.delivery, place.subscription, attempts=0, first_failed_at=first_failed_at, now=now)
        try:
            await place.publish([record])
        except PayloadTooLarge as error:
            await self._bury(work, self._failure(work.delivery, error))
        place.circuit.neutral(work.subject, probe=work.probe)

    async def _keep(self, work: Work) -> bool:
        await self._place.release(work)
        return False

    async def _retry(self, work: Work, failure: Failure) -> None:
        place = self._place
        if (key := work.key) is not None:
            await place.insist(
                lambda: place.ledger.release(work.event.tenant, key, owner=work.owner, failure=failure, now=failure.failed_at),
                "release before a retry",
            )
        record = place.policy.record(
            work.delivery,
            place.subscription,
            attempts=failure.attempts,
            first_failed_at=failure.first_failed_at,
            now=failure.failed_at,
        )
        try:
            await place.publish([record])
        except PayloadTooLarge as error:
            # With its new headers it is above the limit, so it cannot be tried again.
            await self._bury(work, self._failure(work.delivery, error))
            return
        place.count("retry")

    async def _bury(self, work: Work, failure: Failure) -> None:
        place = self._place
        # Before the ledger: once that says so, a delivery after a crash is passed over, and nobody would publish it any more.
        await self._publish_dead(work.delivery, failure)
        if (key := work.key) is not None:
            await place.insist(lambda: place.ledger.exhaust(work.event.tenant, key, failure), "exhaust")
        else:
            await self._record_poison(work.delivery, failure, document=work.event.document)
        await place.publish(work.stage_finished())
        place.count("dead")
        place.metrics.count("dead_letters_total", stage=place.label, code=failure.code)

    async def _publish_dead(self, delivery: Delivery, failure: Failure) -> None:
        place = self._place
        try:
            await place.publish([dead_record(delivery, place.subscription, failure)])
        except PayloadTooLarge:
            await place.publish([dead_notice(delivery, place.subscription, failure)])

    async def _record_poison(self, delivery: Delivery, failure: Failure, *, document: UUID | None) -> None:
        headers = delivery.record.headers
        await self._place.insist(
            lambda: self._place.ledger.record_poison(
                headers.get(HEADER_TENANT, ""),
                group=self._place.subscription.group,
                failure=failure,
                # What has no id is known by its place, so that each such record has a dead letter of its own.
                event_id=headers.get(HEADER_EVENT_ID) or f"{origin_of(delivery)} {delivery.published_at.isoformat()}",
                document=document,
            ),
            "dead letter",
        )

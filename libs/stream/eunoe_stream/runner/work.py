"""One record in work, and what the handling of a subscription shares."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.errors import as_eunoe_error
from eunoe_contracts.events import Event, Record, document_event, encode
from eunoe_telemetry.metrics import Metrics

from eunoe_stream.ledger import StageKey, StageLedger
from eunoe_stream.log import Delivery
from eunoe_stream.runner.circuit import Circuit
from eunoe_stream.runner.claims import ClaimKeeper
from eunoe_stream.runner.health import Progress
from eunoe_stream.runner.insistence import insist
from eunoe_stream.runner.outbox import Outbox
from eunoe_stream.runner.retry import RetryPolicy
from eunoe_stream.subscription import Subscription

T = TypeVar("T")
RELEASE_S = 2.0
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Work:
    """A delivery that was decoded. `key` is its ledger row, None for handlers without a stage."""

    delivery: Delivery
    event: Event
    key: StageKey | None
    owner: str
    probe: bool

    @property
    def subject(self) -> str:
        """What it is about, for counting different documents."""
        return str(self.event.document or self.event.key)

    def stage_finished(self) -> list[Record]:
        """The record that wakes the gateway; none for handlers without a stage."""
        if self.key is None:
            return []
        body = events_pb2.StageFinished(
            tenant=self.event.tenant,
            document_id=str(self.key.document),
            generation=self.key.generation,
            stage=str(self.key.stage),
        )
        return [encode(document_event(topics.STAGE_FINISHED, body, trace=self.event.trace))]


@dataclass(frozen=True, slots=True)
class Workplace:
    """What all records of a subscription share."""

    subscription: Subscription
    ledger: StageLedger
    outbox: Outbox
    claims: ClaimKeeper
    circuit: Circuit
    policy: RetryPolicy
    progress: Progress
    clock: Clock
    ids: Ids
    metrics: Metrics
    instance: str

    @property
    def label(self) -> str:
        """The `stage` label of the metrics."""
        return label_of(self.subscription)

    def count(self, outcome: str) -> None:
        """One record ended so."""
        self.metrics.count("stage_messages_total", stage=self.label, outcome=outcome)

    async def insist(self, call: Callable[[], Awaitable[T]], doing: str) -> T:
        """The result of `call`, tried until it succeeds."""
        return await insist(call, clock=self.clock, progress=self.progress, doing=f"{self.label}: {doing}")

    async def publish(self, records: Sequence[Record]) -> None:
        """Publish, tried until it succeeds. Raises `PayloadTooLarge` when the log never takes one of them."""
        await self.insist(lambda: self.outbox.publish(records), "publish")

    async def release(self, work: Work) -> None:
        """Give the claim back, tried until it succeeds."""
        if (key := work.key) is not None:
            await self.insist(
                lambda: self.ledger.release(work.event.tenant, key, owner=work.owner, failure=None, now=self.clock.now()), "release"
            )

    async def let_go(self, work: Work) -> None:
        """Give the claim back while stopping: one try of at most 2 s, since otherwise the lease runs out anyway."""
        if (key := work.key) is None:
            return
        try:
            async with asyncio.timeout(RELEASE_S):
                await self.ledger.release(work.event.tenant, key, owner=work.owner, failure=None, now=self.clock.now())
        except Exception as error:  # noqa: BLE001 - the lease runs out by itself
            logger.warning("%s: releasing a claim failed (%s)", self.label, as_eunoe_error(error).code)


def label_of(subscription: Subscription) -> str:
    """The stage, or the group of a handler without one."""
    return str(subscription.stage or subscription.group)

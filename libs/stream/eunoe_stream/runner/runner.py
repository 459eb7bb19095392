"""The runner of a process."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Coroutine, Mapping, Sequence
from datetime import timedelta
from typing import Any

from eunoe_contracts import topics
from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.errors import as_eunoe_error
from eunoe_telemetry.metrics import Metrics

from eunoe_stream.ledger import StageLedger
from eunoe_stream.log import Log
from eunoe_stream.runner.circuit import Circuit
from eunoe_stream.runner.claims import ClaimKeeper
from eunoe_stream.runner.consuming import Consuming
from eunoe_stream.runner.health import GroupHealth, Progress
from eunoe_stream.runner.outbox import Outbox
from eunoe_stream.runner.retry import RetryPolicy
from eunoe_stream.runner.work import Workplace, label_of
from eunoe_stream.subscription import Subscription

CLAIM_LEASE_S = 30.0
LAG_EVERY_S = 5.0
logger = logging.getLogger(__name__)


class Runner:
    """Drives the handlers of all subscriptions on one log. `start` once; `drain` and `stop` may be called twice.

    `instance` names the process in claims and must differ between processes; `retry_delays` are the tiers of the retry topics.
    """

    def __init__(
        self,
        log: Log,
        subscriptions: Sequence[Subscription],
        *,
        ledger: StageLedger,
        clock: Clock,
        ids: Ids,
        metrics: Metrics,
        instance: str,
        retry_delays: Sequence[timedelta] = topics.RETRY_DELAYS,
        claim_lease_s: float = CLAIM_LEASE_S,
    ) -> None:
        self._log = log
        self._subscriptions = tuple(subscriptions)
        self._ledger = ledger
        self._clock = clock
        self._ids = ids
        self._metrics = metrics
        self._instance = instance
        self._policy = RetryPolicy(retry_delays)
        self._outbox = Outbox(log)
        self._claims = ClaimKeeper(ledger, clock, lease_s=claim_lease_s)
        self._running: list[Consuming] = []
        self._background: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Join the groups and begin. Raises `StoreUnavailable` when the log cannot be reached."""
        for each in self._subscriptions:
            consumer = await self._log.consumer(each.group, self._policy.topics(each))
            self._running.append(Consuming(consumer, self._workplace(each)))
        for consuming in self._running:
            consuming.start()
        self._background = [
            asyncio.create_task(self._claims.run(), name="renew claims"),
            asyncio.create_task(self._observing_lag(), name="observe lag"),
        ]

    async def drain(self, timeout_s: float) -> None:
        """Stop fetching, finish what is in flight within `timeout_s` (real time), commit, then stop."""
        await self._end([each.drain(timeout_s) for each in self._running])
        await self.stop()

    async def stop(self) -> None:
        """Cancel what is in flight; it is not committed, its claims are released, and it is delivered again later."""
        await self._end([each.halt() for each in self._running])
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        self._background = []

    async def _end(self, halts: Sequence[Coroutine[Any, Any, None]]) -> None:
        """Each leaves its group as soon as it has halted, the outbox closes after all of them: at a time, since from a log that does not
        answer each would wait for itself.
        """
        halting = [asyncio.ensure_future(each) for each in halts]

        async def leave(consuming: Consuming, halted: asyncio.Future[None]) -> None:
            await halted
            await consuming.leave()

        async def close() -> None:
            await asyncio.gather(*halting)
            await self._outbox.close()

        await asyncio.gather(close(), *(leave(*each) for each in zip(self._running, halting, strict=True)))

    def health(self) -> Mapping[str, GroupHealth]:
        """State per group; of several subscriptions of a group, sums and the worst."""
        groups: dict[str, list[Consuming]] = defaultdict(list)
        for each in self._running:
            groups[each.place.subscription.group].append(each)
        return {group: _health(members) for group, members in groups.items()}

    def _workplace(self, subscription: Subscription) -> Workplace:
        label = label_of(subscription)
        self._metrics.set("stage_paused", 0, stage=label)

        def paused(now: bool) -> None:
            self._metrics.set("stage_paused", int(now), stage=label)
            logger.warning("%s is paused: it fails for most documents", label) if now else logger.info("%s goes on", label)

        return Workplace(
            subscription=subscription,
            ledger=self._ledger,
            outbox=self._outbox,
            claims=self._claims,
            circuit=Circuit(self._clock, on_change=paused),
            policy=self._policy,
            progress=Progress(self._clock),
            clock=self._clock,
            ids=self._ids,
            metrics=self._metrics,
            instance=self._instance,
        )

    async def _observing_lag(self) -> None:
        while True:
            for each in self._running:
                try:
                    await self._observe_lag(each)
                except Exception as error:  # noqa: BLE001 - only a measurement
                    logger.warning("reading the lag failed (%s)", as_eunoe_error(error).code)
            await self._clock.sleep(LAG_EVERY_S)

    async def _observe_lag(self, consuming: Consuming) -> None:
        subscription = consuming.place.subscription
        total, age_s = 0, 0.0
        for topic in self._policy.topics(subscription):
            lag = await self._log.lag(topic, subscription.group)
            total += lag
            if lag and (oldest := await self._log.oldest(topic, subscription.group)) is not None:
                age_s = max(age_s, (self._clock.now() - oldest).total_seconds())
        self._metrics.set("stage_lag", total, group=subscription.group, topic=subscription.topic)
        self._metrics.set("stage_oldest_age_seconds", age_s, group=subscription.group, topic=subscription.topic)
        consuming.place.progress.lag = total


def _health(members: Sequence[Consuming]) -> GroupHealth:
    places = [each.place for each in members]
    return GroupHealth(
        paused=any(each.circuit.paused for each in places),
        lag=sum(each.progress.lag for each in places),
        in_flight=sum(each.in_flight for each in members),
        last_progress_age_s=max(each.progress.age_s for each in places),
        reason=next((each.circuit.reason or each.progress.trouble for each in places if each.circuit.reason or each.progress.trouble), ""),
    )

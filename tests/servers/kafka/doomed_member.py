"""A process with one runner whose handler never ends; the test kills it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from datetime import timedelta

from eunoe_contracts import topics
from eunoe_contracts.events import Event
from eunoe_contracts.stages import Stage
from eunoe_stream.kafka import open_kafka_log
from eunoe_stream.kafka.testing import trial_settings
from eunoe_stream.runner import Runner
from eunoe_stream.subscription import Subscription
from eunoe_stream.testing import FakeLedger
from eunoe_telemetry.clock import RandomIds, SystemClock
from eunoe_telemetry.metrics import Metrics


async def never(event: Event) -> Sequence[Event]:
    sys.stdout.write("handling\n")
    sys.stdout.flush()
    await asyncio.Event().wait()
    return []


async def main(address: str, prefix: str) -> None:
    clock, ids = SystemClock(), RandomIds()
    async with open_kafka_log(trial_settings(address, prefix=prefix), clock=clock, ids=ids) as log:
        subscription = Subscription(topics.DOCUMENT_ACCEPTED, "extractor", never, stage=Stage.EXTRACT)
        runner = Runner(
            log,
            [subscription],
            ledger=FakeLedger(),
            clock=clock,
            ids=ids,
            metrics=Metrics(),
            instance=ids.new(),
            retry_delays=[timedelta(seconds=1)],
        )
        await runner.start()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

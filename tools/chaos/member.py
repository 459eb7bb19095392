"""One member: the real log and runner, the ledger on PostgreSQL, and a handler that works, fails and dawdles by plan.

`python -m chaos.member FOLDER LEASE_S DRAIN_S [broken]`; where the servers are stands in the environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import CorruptDocument, StoreUnavailable
from eunoe_contracts.events import Event, document_event
from eunoe_contracts.stages import Stage
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import passage
from eunoe_stores.postgres import PostgresSettings, open_postgres
from eunoe_stream.kafka import KafkaSettings, Watchdog, open_kafka_log
from eunoe_stream.log import Consumer, Delivery, Log, TopicPartition
from eunoe_stream.runner import Runner
from eunoe_stream.subscription import Subscription
from eunoe_telemetry.clock import RandomIds, SystemClock
from eunoe_telemetry.metrics import Metrics

from chaos.plan import DELAYS, GROUP, TENANT, UNITS, Kind, kind_of

RUNS = "runs"
STUCK = 70
WATCH_EVERY_S = 5.0


class Work:
    """The handler. It notes each start in a file that outlives the process."""

    def __init__(self, folder: Path, catalogue: SqlCatalogue, clock: SystemClock) -> None:
        self._folder = folder
        self._catalogue = catalogue
        self._clock = clock
        self._runs = os.open(folder / RUNS, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def handle(self, event: Event) -> Sequence[Event]:
        """See `Kind`."""
        document = event.document
        if document is None:
            raise CorruptDocument
        number = document.int
        os.write(self._runs, f"{number}\n".encode())
        kind = kind_of(number)
        if kind is Kind.POISON:
            raise CorruptDocument
        if kind is Kind.FLAKY and self._is_first(number):
            raise StoreUnavailable
        await self._clock.sleep(kind.takes_s)
        units = [passage(document, ordinal, generation=event.generation) for ordinal in range(UNITS)]
        await self._catalogue.put_units(TENANT, document, event.generation, units, title=str(number), now=self._clock.now())
        body = events_pb2.DocumentExtracted(tenant=TENANT, document_id=str(document), generation=event.generation)
        return [document_event(topics.DOCUMENT_EXTRACTED, body)]

    def _is_first(self, number: int) -> bool:
        """Of all processes: the next one may have been killed in between."""
        try:
            os.close(os.open(self._folder / f"flaky-{number}", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True


class CommitsFirst:
    """The deliberate defect: offsets are committed when records are fetched."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self.pause, self.resume = consumer.pause, consumer.resume
        self.on_revoked, self.close = consumer.on_revoked, consumer.close

    async def fetch(self, limit: int, wait_s: float) -> Sequence[Delivery]:
        """See the class."""
        found = await self._consumer.fetch(limit, wait_s)
        await self._consumer.commit({each.source: each.offset + 1 for each in found})
        return found

    async def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Done already."""


class BrokenLog:
    """A log whose consumers have that defect."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.publish, self.lag, self.oldest, self.has_pending, self.close = log.publish, log.lag, log.oldest, log.has_pending, log.close

    async def consumer(self, group: str, topics: Sequence[str]) -> Consumer:
        """See the class."""
        return CommitsFirst(await self._log.consumer(group, topics))


async def main(folder: Path, lease_s: float, drain_s: float, *, broken: bool) -> int:
    """Work until SIGTERM."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    clock, ids = SystemClock(), RandomIds()
    kafka = KafkaSettings()
    async with open_postgres(PostgresSettings()) as database, open_kafka_log(kafka, clock=clock, ids=ids) as log:
        catalogue = SqlCatalogue(database)
        work = Work(folder, catalogue, clock)
        runner = Runner(
            BrokenLog(log) if broken else log,
            [Subscription(topics.DOCUMENT_ACCEPTED, GROUP, work.handle, stage=Stage.EXTRACT)],
            ledger=catalogue,
            clock=clock,
            ids=ids,
            metrics=Metrics(),
            instance=ids.new(),
            retry_delays=DELAYS,
            claim_lease_s=lease_s,
        )
        await runner.start()
        (folder / f"ready-{os.getpid()}").touch()
        watchdog, reason = Watchdog(log, clock=clock, stall_s=kafka.stall_s), ""
        while not stop.is_set() and not reason:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), WATCH_EVERY_S)
            reason = await watchdog.ask()
        sys.stdout.write(f"stopping {reason}\n")
        await runner.drain(drain_s)
    return STUCK if reason else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), broken="broken" in sys.argv[4:])))

"""Sends the records, as the gateway does what can be decoded, and as a stranger the rest."""

from __future__ import annotations

import asyncio
import time

from aiokafka.errors import KafkaError
from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import StaleGeneration, StoreUnavailable
from eunoe_contracts.events import document_event, encode
from eunoe_stores.catalogue.rows import NewDocument
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import MANY, new_document
from eunoe_stream.kafka import KafkaLog, KafkaSettings
from eunoe_stream.kafka.testing import RawHeader, send_raw
from eunoe_telemetry.clock import SystemClock

from chaos.plan import PARTITIONS, TENANT, Form, Kind, document_of, kind_of

HEADERS: dict[Kind, list[RawHeader]] = {
    Kind.HEADER_NAME: [(b"eunoe-\xff\xfe", b"1")],
    Kind.HEADER_VALUE: [(b"eunoe-schema-version", b"1"), (b"eunoe-tenant", b"\xff\xfe")],
}
AGAIN_S = 0.5


class Traffic:
    """`sent` holds what was acknowledged; `again` counts what had to be sent once more."""

    def __init__(self, form: Form, settings: KafkaSettings, log: KafkaLog, catalogue: SqlCatalogue) -> None:
        self._form = form
        self._settings = settings
        self._log = log
        self._catalogue = catalogue
        self._clock = SystemClock()
        self.sent: dict[int, Kind] = {}
        self.again = 0

    async def send(self, until: float) -> None:
        """At the rate of the form, until that monotonic time; an outage is sat out and not caught up with."""
        number = 0
        while time.monotonic() < until:
            number += 1
            due = time.monotonic() + 1 / self._form.per_second
            kind = kind_of(number)
            await (self._publish(number) if kind.is_decodable else self._publish_raw(number, kind))
            self.sent[number] = kind
            await asyncio.sleep(max(0.0, due - time.monotonic()))

    async def _publish(self, number: int) -> None:
        new = new_document(f"{number}", id=document_of(number))
        await self._accept(new)
        body = events_pb2.DocumentAccepted(tenant=TENANT, document_id=str(new.id), generation=1)
        record = encode(document_event(topics.DOCUMENT_ACCEPTED, body))
        while True:
            try:
                await self._log.publish([record])
            except StoreUnavailable:
                self.again += 1
                await asyncio.sleep(AGAIN_S)
            else:
                return

    async def _accept(self, new: NewDocument) -> None:
        while True:
            plan = await self._catalogue.plan_accept(TENANT, new)
            try:
                await self._catalogue.accept(TENANT, new, plan=plan, queue_limit=MANY, now=self._clock.now())
            except StaleGeneration:
                continue
            return

    async def _publish_raw(self, number: int, kind: Kind) -> None:
        key = None if kind is Kind.NO_KEY else b"stranger"
        topic = self._settings.topic_prefix + topics.DOCUMENT_ACCEPTED
        while True:
            try:
                await send_raw(
                    self._settings,
                    topic,
                    partition=number % PARTITIONS,
                    key=key,
                    value=f"{{undecodable {number}".encode(),
                    headers=HEADERS.get(kind, []),
                )
            except (KafkaError, OSError):
                self.again += 1
                await asyncio.sleep(AGAIN_S)
            else:
                return

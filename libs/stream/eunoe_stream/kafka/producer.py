"""Publishing: single keyed sends through one idempotent producer, which is replaced as soon as one of its records failed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, ProducerClosed
from eunoe_contracts.errors import StoreUnavailable

from eunoe_stream.kafka.errors import TOO_LARGE, mapped, translated
from eunoe_stream.kafka.wire import Outgoing

START_S = 30.0
METADATA_S = 5.0
MARGIN_S = 10.0
STOP_S = 3.0
logger = logging.getLogger(__name__)


class Producer:
    """`send` from many tasks. A producer that lost a batch has a gap in its sequence numbers and is refused for ever, so it is not kept."""

    def __init__(self, make: Callable[[], AIOKafkaProducer], *, request_timeout_s: float) -> None:
        self._make = make
        self._give_up_s = request_timeout_s + MARGIN_S
        self._current: AIOKafkaProducer | None = None
        self._known: set[str] = set()
        self._lock = asyncio.Lock()
        self._retiring: set[asyncio.Task[None]] = set()
        self._closed = False
        self.replaced = 0

    async def start(self) -> None:
        """Connect. Raises `StoreUnavailable`."""
        await self._producer()

    async def send(self, records: Sequence[Outgoing]) -> None:
        """Return when the brokers have confirmed all. Raises `StoreUnavailable`; some may be stored then, and all are to be sent again.

        A caller that is cancelled does not stop what is on its way.
        """
        if self._closed:
            raise StoreUnavailable("the log is closed")
        if not records:
            return
        producer = await self._producer()
        for topic in {each.topic for each in records}:
            await self._must_exist(producer, topic)
        sent: list[asyncio.Future[Any]] = []
        try:
            # One after the other, so that equal keys keep their order; the confirmations are awaited together.
            for each in records:
                future = await producer.send(each.topic, value=each.value, key=each.key, headers=each.headers)
                future.add_done_callback(_retrieved)
                sent.append(future)
        except Exception as error:
            # Too large is found before the record gets a sequence number: the producer is sound.
            if not isinstance(error, TOO_LARGE):
                await self._retire(producer)
            raise mapped(error) from error
        _, late = await asyncio.wait(sent, timeout=self._give_up_s)
        failed = next((found for each in sent if each.done() and not each.cancelled() and (found := each.exception())), None)
        if failed is not None or late:
            await self._retire(producer)
            raise mapped(failed or TimeoutError()) from failed

    async def _must_exist(self, producer: AIOKafkaProducer, topic: str) -> None:
        if topic in self._known:
            return
        try:
            with translated():
                async with asyncio.timeout(METADATA_S):
                    await producer.partitions_for(topic)
        except StoreUnavailable as error:
            raise StoreUnavailable(f"no broker knows the topic {topic}; `eunoe admin provision` creates it") from error
        self._known.add(topic)

    async def _producer(self) -> AIOKafkaProducer:
        async with self._lock:
            if self._current is None:
                made = self._make()
                try:
                    with translated():
                        async with asyncio.timeout(START_S):
                            await made.start()
                except BaseException:
                    await _stop(made)
                    raise
                self._current = made
            return self._current

    async def _retire(self, producer: AIOKafkaProducer) -> None:
        async with self._lock:
            if self._current is not producer:
                return
            self._current = None
            self._known.clear()
            self.replaced += 1
            logger.warning("a record was not confirmed: the producer is replaced")
            task = asyncio.create_task(_stop(producer), name="retire producer")
            self._retiring.add(task)
            task.add_done_callback(self._retiring.discard)

    async def close(self) -> None:
        """Refuse further records, wait a little for those on their way. May be called twice."""
        self._closed = True
        async with self._lock:
            current, self._current = self._current, None
        if current is not None:
            await _stop(current)
        await asyncio.gather(*self._retiring)


async def _stop(producer: AIOKafkaProducer) -> None:
    """Flush and disconnect within 3 s. Without a broker a flush would wait for ever, so what is left then fails."""
    with suppress(KafkaError, OSError, TimeoutError):
        async with asyncio.timeout(STOP_S):
            await producer.stop()
            return
    # The library has no way to stop without a flush.
    producer._message_accumulator.fail_all(ProducerClosed())  # noqa: SLF001
    with suppress(KafkaError, OSError, TimeoutError):
        async with asyncio.timeout(STOP_S):
            await producer._sender.close()  # noqa: SLF001
    await producer.client.close()


def _retrieved(future: asyncio.Future[Any]) -> None:
    """So that nobody complains about an error that came after its sender was cancelled."""
    if not future.cancelled():
        future.exception()

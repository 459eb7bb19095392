"""Publishes of many handlers put together into few."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from eunoe_contracts.errors import PayloadTooLarge
from eunoe_contracts.events import Record

from eunoe_stream.log import Log

CLOSE_S = 5.0
_Waiting = tuple[Sequence[Record], asyncio.Future[None]]


class Outbox:
    """While one publish is on its way, later ones wait and go together; nobody waits for a timer."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._waiting: list[_Waiting] = []
        self._sender: asyncio.Task[None] | None = None

    async def publish(self, records: Sequence[Record]) -> None:
        """Return when these are durable. Raises what the log raises for all that went together, but `PayloadTooLarge` only for these."""
        if not records:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((records, future))
        if self._sender is None or self._sender.done():
            self._sender = asyncio.create_task(self._send(), name="outbox")
        await future

    async def close(self) -> None:
        """Wait for what is on its way, but not as long as a log sits an outage out. May be called twice."""
        if self._sender is not None:
            _, late = await asyncio.wait({self._sender}, timeout=CLOSE_S)
            for each in late:
                each.cancel()
            await asyncio.gather(self._sender, return_exceptions=True)
        # Behind what was stopped there may be more, for which nobody would come any more.
        while self._waiting:
            self._waiting.pop()[1].cancel()

    async def _send(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                await self._send_together(batch)
            except BaseException:
                for _, future in batch:
                    future.cancel()
                raise

    async def _send_together(self, batch: Sequence[_Waiting]) -> None:
        """Raises only what ends the task."""
        try:
            await self._log.publish([record for records, _ in batch for record in records])
        except PayloadTooLarge as error:
            if len(batch) == 1:
                _end(batch, error)
            else:
                for each in batch:
                    await self._send_together([each])
        except Exception as error:  # noqa: BLE001 - for those who wait to judge
            _end(batch, error)
        else:
            _end(batch, None)


def _end(batch: Sequence[_Waiting], error: Exception | None) -> None:
    for _, future in batch:
        if not future.done():
            future.set_result(None) if error is None else future.set_exception(error)

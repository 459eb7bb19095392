"""Says when a process on Kafka is of no use any more, although it lives and its probes answer: it should end and be started again."""

from __future__ import annotations

import logging

from eunoe_contracts.clock import Clock
from eunoe_contracts.errors import EunoeError

from eunoe_stream.kafka.log import KafkaLog
from eunoe_stream.kafka.member import KafkaMember

logger = logging.getLogger(__name__)


class Watchdog:
    """Ask it every ten seconds or so. It judges only what a new start would mend: brokers that are away are no reason to end."""

    def __init__(self, log: KafkaLog, *, clock: Clock, stall_s: float) -> None:
        self._log = log
        self._clock = clock
        self._stall_s = stall_s
        self._well_at: dict[KafkaMember, float] = {}

    async def ask(self) -> str:
        """Why the process must end; empty while it need not."""
        members = self._log.members()
        self._well_at = {each: self._well_at.get(each, self._clock.monotonic()) for each in members}
        for each in members:
            if self._log.has_ended(each):
                return f"{each.group}: the loop that reads {each.topics[0]} has ended"
            try:
                reason = await self._stalled(each)
            except EunoeError as error:
                logger.info("%s: how far it is cannot be seen (%s)", each.group, error.code)
                self._well_at[each] = self._clock.monotonic()
                continue
            if reason:
                return reason
        return ""

    async def _stalled(self, member: KafkaMember) -> str:
        now = self._clock.monotonic()
        if member.waiting and now - member.taken_at > self._stall_s:
            return f"{member.group}: nobody took the records of {member.topics[0]} for {self._stall_s:.0f} s"
        if now - max(member.moved_at, self._well_at[member]) <= self._stall_s:
            return ""
        if not member.waiting and await self._log.is_behind(member):
            return f"{member.group}: records wait on {member.topics[0]} and none arrived for {self._stall_s:.0f} s"
        self._well_at[member] = now
        return ""

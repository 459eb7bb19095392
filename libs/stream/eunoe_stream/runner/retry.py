"""Retry topics: which delay follows which attempt, and what the headers of a record say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from eunoe_contracts import events, topics
from eunoe_contracts.events import Record

from eunoe_stream.log import Delivery
from eunoe_stream.subscription import Subscription


class RetryPolicy:
    """Delay tiers; each has a retry topic per group, so that the head of a partition is always the next due."""

    def __init__(self, delays: Sequence[timedelta] = topics.RETRY_DELAYS) -> None:
        if not delays:
            raise ValueError("at least one retry delay is needed")
        self._delays = tuple(delays)

    def topics(self, subscription: Subscription) -> tuple[str, ...]:
        """The main topic and the retry topics of a subscription."""
        tiers = [topics.retry_topic(subscription.topic, subscription.group, each) for each in self._delays]
        return tuple(dict.fromkeys([subscription.topic, *tiers]))

    def record(
        self, delivery: Delivery, subscription: Subscription, *, attempts: int, first_failed_at: datetime | None, now: datetime
    ) -> Record:
        """The record to publish after `attempts` failures; 0 when nothing failed: the work was held by somebody else, or goes on."""
        delay = self._delays[min(max(attempts, 1), len(self._delays)) - 1]
        headers = {
            **delivery.record.headers,
            events.HEADER_ATTEMPT: str(attempts_of(delivery.record) if attempts == 0 else attempts),
            events.HEADER_NOT_BEFORE: (now + delay).isoformat(),
            events.HEADER_ORIGIN: origin_of(delivery),
        }
        if first_failed_at is not None:
            headers[events.HEADER_FIRST_FAILED_AT] = first_failed_at.isoformat()
        topic = topics.retry_topic(subscription.topic, subscription.group, delay)
        return replace(delivery.record, topic=topic, headers=headers)

    def wait_s(self, record: Record, now: datetime) -> float:
        """Seconds until a record is due; never more than the delay of its topic, whatever the wall clock did meanwhile."""
        not_before = _time(record.headers.get(events.HEADER_NOT_BEFORE, ""))
        if not_before is None:
            return 0.0
        longest = topics.retry_delay(record.topic) or max(self._delays)
        return min(max((not_before - now).total_seconds(), 0.0), longest.total_seconds())


def attempts_of(record: Record) -> int:
    """Failed attempts before this delivery."""
    text = record.headers.get(events.HEADER_ATTEMPT, "0")
    return int(text) if text.isascii() and text.isdigit() else 0


def first_failure_of(record: Record) -> datetime | None:
    """When it failed first, if it did."""
    return _time(record.headers.get(events.HEADER_FIRST_FAILED_AT, ""))


def origin_of(delivery: Delivery) -> str:
    """`topic/partition/offset` where the record was first read."""
    known = delivery.record.headers.get(events.HEADER_ORIGIN)
    return known or f"{delivery.record.topic}/{delivery.partition}/{delivery.offset}"


def _time(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None

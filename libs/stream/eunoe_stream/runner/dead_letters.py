"""Records of the dead topic."""

from __future__ import annotations

from dataclasses import replace

from eunoe_contracts import events, topics
from eunoe_contracts.events import Record

from eunoe_stream.ledger import Failure
from eunoe_stream.log import Delivery
from eunoe_stream.runner.retry import origin_of
from eunoe_stream.subscription import Subscription

LONGEST_KEPT = 1_000
"""Characters of a header that a notice keeps."""
KEPT = (events.HEADER_EVENT_ID, events.HEADER_TENANT, events.HEADER_TRACE)


def dead_record(delivery: Delivery, subscription: Subscription, failure: Failure) -> Record:
    """The record as it came, with code, attempts, first failure and origin in the headers."""
    headers = {**delivery.record.headers, **_about(delivery, failure)}
    headers.pop(events.HEADER_NOT_BEFORE, None)
    return replace(delivery.record, topic=topics.dead_topic(subscription.topic, subscription.group), headers=headers)


def dead_notice(delivery: Delivery, subscription: Subscription, failure: Failure) -> Record:
    """Instead of a dead record that is too large for the log: the same without what it said. The origin tells where that may still lie."""
    headers = {name: text for name in KEPT if (text := delivery.record.headers.get(name)) is not None and len(text) <= LONGEST_KEPT}
    size = {events.HEADER_BYTES: str(len(delivery.record.value))}
    return Record(topics.dead_topic(subscription.topic, subscription.group), "", b"", {**headers, **_about(delivery, failure), **size})


def _about(delivery: Delivery, failure: Failure) -> dict[str, str]:
    return {
        events.HEADER_CODE: failure.code,
        events.HEADER_ATTEMPT: str(failure.attempts),
        events.HEADER_FIRST_FAILED_AT: failure.first_failed_at.isoformat(),
        events.HEADER_ORIGIN: origin_of(delivery),
    }

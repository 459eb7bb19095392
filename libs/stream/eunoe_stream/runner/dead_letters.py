"""Records of the dead topic."""

from __future__ import annotations

from dataclasses import replace

from eunoe_contracts import events, topics
from eunoe_contracts.events import Record

from eunoe_stream.ledger import Failure
from eunoe_stream.log import Delivery
from eunoe_stream.runner.retry import origin_of
from eunoe_stream.subscription import Subscription


def dead_record(delivery: Delivery, subscription: Subscription, failure: Failure) -> Record:
    """The record as it came, with code, attempts, first failure and origin in the headers."""
    headers = {
        **delivery.record.headers,
        events.HEADER_CODE: failure.code,
        events.HEADER_ATTEMPT: str(failure.attempts),
        events.HEADER_FIRST_FAILED_AT: failure.first_failed_at.isoformat(),
        events.HEADER_ORIGIN: origin_of(delivery),
    }
    headers.pop(events.HEADER_NOT_BEFORE, None)
    return replace(delivery.record, topic=topics.dead_topic(subscription.topic, subscription.group), headers=headers)

"""What is sent, how long, and how rough it gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from eunoe_contracts import topics

TENANT = "chaos"
GROUP = "extractor"
MEMBERS = 3
PARTITIONS = 6
UNITS = 2
"""Passages of each document."""
DELAYS = (timedelta(seconds=1), timedelta(seconds=2))
TOPICS = (topics.DOCUMENT_ACCEPTED, *(topics.retry_topic(topics.DOCUMENT_ACCEPTED, GROUP, each) for each in DELAYS))
KILLED_OUTRIGHT = 0.8
"""Share of the members that get SIGKILL; the others get SIGTERM."""


class Kind(StrEnum):
    """What becomes of a record."""

    PLAIN = "plain"
    FLAKY = "flaky"
    SLOW = "slow, 5 s"
    SLOWEST = "slow, 12 s"
    POISON = "poison"
    NO_EVENT = "no event"
    NO_KEY = "no key"
    HEADER_NAME = "header name without text"
    HEADER_VALUE = "header value without text"

    @property
    def is_decodable(self) -> bool:
        """It is an event, with a row in the ledger."""
        return self not in UNDECODABLE

    @property
    def ends_well(self) -> bool:
        """The handler takes it, sooner or later."""
        return self.is_decodable and self is not Kind.POISON

    @property
    def takes_s(self) -> float:
        """How long the handler works."""
        return {Kind.SLOW: 5.0, Kind.SLOWEST: 12.0}.get(self, 0.02)


UNDECODABLE = frozenset({Kind.NO_EVENT, Kind.NO_KEY, Kind.HEADER_NAME, Kind.HEADER_VALUE})
SPECIAL = {
    3: Kind.FLAKY, 7: Kind.POISON, 13: Kind.NO_EVENT, 17: Kind.SLOW, 23: Kind.FLAKY, 31: Kind.NO_KEY, 43: Kind.FLAKY,
    50: Kind.SLOWEST, 57: Kind.POISON, 63: Kind.HEADER_NAME, 73: Kind.FLAKY, 81: Kind.HEADER_VALUE, 93: Kind.FLAKY,
}  # fmt: skip
"""Of every hundred."""


def kind_of(number: int) -> Kind:
    """The same in all processes."""
    return SPECIAL.get(number % 100, Kind.PLAIN)


def document_of(number: int) -> UUID:
    """The document with that number; `document.int` leads back."""
    return UUID(int=number)


@dataclass(frozen=True, slots=True)
class Form:
    """How a run goes. `broken` commits before the work is done, which the judge must notice."""

    seconds: float
    seed: int
    per_second: float = 12.0
    kill_every_s: tuple[float, float] = (10.0, 20.0)
    member_away_s: tuple[float, float] = (1.0, 14.0)
    broker_away_s: tuple[float, float] = (5.0, 30.0)
    broker_strikes: int = 4
    session_s: float = 10.0
    lease_s: float = 30.0
    settle_s: float = 120.0
    drain_s: float = 15.0
    stop_limit_s: float = 25.0
    broken: bool = False

    @staticmethod
    def short(seconds: float, seed: int, *, broken: bool = False) -> Form:
        """For a minute or so: everything comes faster."""
        return Form(
            seconds=seconds,
            seed=seed,
            kill_every_s=(7.0, 12.0),
            member_away_s=(0.5, 4.0),
            broker_away_s=(0.5, 3.0),
            broker_strikes=2,
            session_s=4.0,
            lease_s=6.0,
            broken=broken,
        )

    def kafka(self, prefix: str) -> Mapping[str, str]:
        """Settings of the log for all processes."""
        times = {
            "HEARTBEAT_S": "1",
            "SESSION_TIMEOUT_S": str(self.session_s),
            "DRAIN_S": "20",
            "REBALANCE_TIMEOUT_S": "40",
            "REQUEST_TIMEOUT_S": "60",
            "MAX_POLL_INTERVAL_S": "60",
        }
        shape = {"TOPIC_PREFIX": prefix, "PARTITIONS": str(PARTITIONS), "RETRY_PARTITIONS": "2", "REPLICATION": "1"}
        return {f"EUNOE_KAFKA__{name}": value for name, value in (times | shape).items()}

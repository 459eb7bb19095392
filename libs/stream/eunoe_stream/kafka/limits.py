"""The order of the time limits. A pair in the wrong order makes a group repeat the same records for ever, so it is refused at start."""

from __future__ import annotations

from dataclasses import dataclass

from eunoe_stream.runner.consuming import REVOKE_S
from eunoe_stream.runner.work import RELEASE_S

JOIN_S = 10.0
"""What a member needs after draining to notice the rebalance and join, with room to spare."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds; the names are those of the settings."""

    heartbeat_s: float
    session_s: float
    commit_timeout_s: float
    drain_s: float
    rebalance_timeout_s: float
    request_timeout_s: float
    max_poll_interval_s: float

    def contradictions(self) -> list[str]:
        """What is wrong, in words for the operator."""
        wrong = []
        if 3 * self.heartbeat_s > self.session_s:
            wrong.append(
                f"EUNOE_KAFKA__HEARTBEAT_S ({self.heartbeat_s:g}) may be at most a third of the session time-out ({self.session_s:g}):"
                " two lost heartbeats would make a living member look dead"
            )
        work = REVOKE_S + RELEASE_S + self.commit_timeout_s
        if self.drain_s < work:
            wrong.append(
                f"EUNOE_KAFKA__DRAIN_S ({self.drain_s:g}) must be at least {work:g}: finishing what runs takes up to {REVOKE_S:g} s, giving"
                f" claims back {RELEASE_S:g} s, storing offsets EUNOE_KAFKA__COMMIT_TIMEOUT_S ({self.commit_timeout_s:g})"
            )
        if self.rebalance_timeout_s < self.drain_s + JOIN_S:
            wrong.append(
                f"EUNOE_KAFKA__REBALANCE_TIMEOUT_S ({self.rebalance_timeout_s:g}) must be at least {JOIN_S:g} s above EUNOE_KAFKA__DRAIN_S"
                f" ({self.drain_s:g}): a member that drains longer than the group waits is thrown out, and its records begin again"
            )
        if self.request_timeout_s <= self.rebalance_timeout_s:
            wrong.append(
                f"EUNOE_KAFKA__REQUEST_TIMEOUT_S ({self.request_timeout_s:g}) must be above EUNOE_KAFKA__REBALANCE_TIMEOUT_S"
                f" ({self.rebalance_timeout_s:g}): a request to join waits as long as the slowest member drains"
            )
        if self.max_poll_interval_s < self.rebalance_timeout_s:
            wrong.append(
                f"EUNOE_KAFKA__MAX_POLL_INTERVAL_S ({self.max_poll_interval_s:g}) must be at least EUNOE_KAFKA__REBALANCE_TIMEOUT_S"
                f" ({self.rebalance_timeout_s:g}): no records are taken while partitions move"
            )
        return wrong

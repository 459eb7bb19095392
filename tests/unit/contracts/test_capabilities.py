from __future__ import annotations

from datetime import UTC, datetime, timedelta

from eunoe_contracts.capabilities import CapabilityReport, of_all

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def report(instance: str, *names: str, age_s: float = 0) -> CapabilityReport:
    return CapabilityReport(instance, frozenset(names), NOON - timedelta(seconds=age_s))


def test_nothing_is_known_before_the_first_report():
    assert of_all([]) is None


def test_what_every_living_process_can_do():
    assert of_all([report("a", "text", "pdf"), report("b", "pdf", "docx", age_s=90)]) == {"pdf"}


def test_who_fell_silent_does_not_count():
    assert of_all([report("a", "text", "pdf"), report("b", "pdf", age_s=90.1)]) == {"text", "pdf"}


def test_what_all_said_before_they_went_down_stays_true():
    assert of_all([report("a", "text", age_s=10_000), report("b", "text", "pdf", age_s=10_001)]) == {"text"}

"""Settings that would lose or repeat records are refused at start, in words."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from eunoe_stream.kafka import KafkaSettings, RateLimit
from eunoe_stream.kafka.topics import plans
from eunoe_stream.runner.consuming import REVOKE_S
from eunoe_stream.runner.work import RELEASE_S
from pydantic import ValidationError


def settings(**changes: Any) -> KafkaSettings:
    return KafkaSettings(_env_file=None, **changes)


def test_the_defaults_are_in_order() -> None:
    assert settings().limits.contradictions() == []
    assert settings().session_s == 15
    assert settings(group_instance_id="embedder-0").session_s == 45


def test_the_drain_covers_what_the_runner_does_on_a_revoke() -> None:
    assert settings().drain_s >= REVOKE_S + RELEASE_S + settings().commit_timeout_s


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"heartbeat_s": 6}, "EUNOE_KAFKA__HEARTBEAT_S (6) may be at most a third of the session time-out (15)"),
        ({"drain_s": 16}, "EUNOE_KAFKA__DRAIN_S (16) must be at least 17"),
        ({"drain_s": 55}, "EUNOE_KAFKA__REBALANCE_TIMEOUT_S (60) must be at least 10 s above EUNOE_KAFKA__DRAIN_S (55)"),
        ({"request_timeout_s": 60}, "EUNOE_KAFKA__REQUEST_TIMEOUT_S (60) must be above EUNOE_KAFKA__REBALANCE_TIMEOUT_S (60)"),
        ({"max_poll_interval_s": 30}, "EUNOE_KAFKA__MAX_POLL_INTERVAL_S (30) must be at least EUNOE_KAFKA__REBALANCE_TIMEOUT_S (60)"),
        (
            {"security_protocol": "SASL_SSL", "sasl_username": "u"},
            "SASL_SSL needs EUNOE_KAFKA__SASL_USERNAME and",
        ),
        ({"tls_cert_file": Path("c")}, "EUNOE_KAFKA__TLS_CERT_FILE and EUNOE_KAFKA__TLS_KEY_FILE belong together"),
        ({"replication": 1, "min_insync_replicas": 2}, "nothing could be published"),
        ({"topic_prefix": "a/b"}, "topic_prefix"),
    ],
)
def test_a_contradiction_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as refused:
        settings(**changes)
    assert words in str(refused.value)


def test_the_environment_is_read_and_the_password_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EUNOE_KAFKA__BOOTSTRAP_SERVERS", "k1:9092, k2:9092")
    monkeypatch.setenv("EUNOE_KAFKA__SASL_PASSWORD", "hidden")
    found = settings()
    assert found.bootstrap_servers == "k1:9092, k2:9092"
    assert "hidden" not in repr(found)


def test_every_reader_has_retry_and_dead_letter_topics() -> None:
    found = {each.name: each for each in plans(settings(topic_prefix="p."), [("eunoe.stage.finished.v1", "finisher")])}
    assert found["p.eunoe.document.accepted.v1"].partitions == settings().partitions
    assert found["p.eunoe.stage.finished.v1.finisher.retry.600s"].partitions == settings().retry_partitions
    assert (
        float(found["p.eunoe.stage.finished.v1.finisher.dead"].configuration["retention.ms"]) == settings().dead_retention_hours * 3_600_000
    )
    assert len(found) == 8 + 4 + 1
    assert {each.configuration["min.insync.replicas"] for each in found.values()} == {"2"}


def test_a_flood_of_equal_lines_becomes_three_and_a_count() -> None:
    now = [0.0]
    limit = RateLimit(burst=3, period_s=30, monotonic=lambda: now[0])

    def line(text: str, level: int = logging.WARNING) -> logging.LogRecord:
        return logging.LogRecord("aiokafka.conn", level, "", 0, text, ("127.0.0.1",), None)

    assert [limit.filter(line("no way to %s")) for _ in range(5)] == [True, True, True, False, False]
    assert limit.filter(line("another thing at %s"))
    assert not limit.filter(line("a key and a value", logging.DEBUG)), "content is never logged"
    now[0] = 31.0
    again = line("no way to %s")
    assert limit.filter(again)
    assert again.getMessage() == "no way to 127.0.0.1 (left out since: 2)"

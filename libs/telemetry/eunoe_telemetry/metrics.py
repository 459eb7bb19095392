"""The one typed registry of metric names. A metric that is not here does not exist; docs and dashboards are checked against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

Kind = Literal["counter", "gauge", "histogram"]
SHORT = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
LONG = (0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)


@dataclass(frozen=True, slots=True)
class Metric:
    """Name without the prefix `eunoe_`, unit inside the name, meaning, and when a value is bad."""

    name: str
    kind: Kind
    meaning: str
    bad_when: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = SHORT


METRICS = (
    Metric("build_info", "gauge", "Version that runs; always 1.", "never", ("version",)),
    Metric("gateway_requests_total", "counter", "Calls at a door.", "5xx or UNAVAILABLE grow", ("method", "code")),
    Metric("gateway_request_duration_seconds", "histogram", "Time of a call at a door.", "p99 above 1 s", ("method",)),
    Metric("internal_requests_total", "counter", "Calls of other processes at the internal door.", "UNAVAILABLE grows", ("method", "code")),
    Metric("internal_request_duration_seconds", "histogram", "Time of such a call.", "p99 near the caller's deadline", ("method",)),
    Metric("ingest_bytes_total", "counter", "Bytes accepted.", "never", ("format",)),
    Metric("documents_ended_total", "counter", "Documents that reached an end.", "failed grows", ("status",)),
    Metric("stage_messages_total", "counter", "Records handled by a stage.", "dead or retry grow", ("stage", "outcome")),
    Metric("stage_duration_seconds", "histogram", "Time of one handler run.", "near the deadline", ("stage",), LONG),
    Metric("stage_lag", "gauge", "Records a group has not committed.", "grows without end", ("group", "topic")),
    Metric("stage_oldest_age_seconds", "gauge", "Age of the oldest of them; 0 without any.", "grows without end", ("group", "topic")),
    Metric("stage_paused", "gauge", "1 while a stage is paused after too many failures.", "1", ("stage",)),
    Metric("dead_letters_total", "counter", "Dead letters written.", "grows", ("stage", "code")),
    Metric("parser_restarts_total", "counter", "Parser processes replaced.", "reason other than recycled grows", ("reason",)),
    Metric("embed_batch_size", "histogram", "Texts in one call of the embedding model.", "1 under load", (), (1, 2, 4, 8, 16, 32, 64)),
    Metric("embed_tokens_total", "counter", "Tokens embedded.", "never", ("lane",)),
    Metric("search_duration_seconds", "histogram", "Time of a search.", "p95 above 0.2 s", ("mode",)),
    Metric("search_degraded_total", "counter", "Searches that answered without an arm.", "grows", ("arm",)),
    Metric("sweeper_republished_total", "counter", "Events published by the sweeper.", "grows steadily", ("topic",)),
    Metric("open_documents", "gauge", "Documents accepted and not ended.", "near the queue limit", ()),
)
BY_NAME: Mapping[str, Metric] = {each.name: each for each in METRICS}


class Metrics:
    """Metric objects of one process, on a registry of its own so that tests do not share state."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._made: dict[str, Counter | Gauge | Histogram] = {each.name: self._make(each) for each in METRICS}

    def _make(self, metric: Metric) -> Counter | Gauge | Histogram:
        name = f"eunoe_{metric.name}"
        if metric.kind == "counter":
            return Counter(name, metric.meaning, metric.labels, registry=self.registry)
        if metric.kind == "gauge":
            return Gauge(name, metric.meaning, metric.labels, registry=self.registry)
        return Histogram(name, metric.meaning, metric.labels, registry=self.registry, buckets=metric.buckets)

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add to a counter."""
        made = self._made[name]
        target = made.labels(**labels) if labels else made
        if not isinstance(target, Counter):
            raise TypeError(f"{name} is not a counter")
        target.inc(amount)

    def set(self, name: str, value: float, **labels: str) -> None:
        """Set a gauge."""
        made = self._made[name]
        target = made.labels(**labels) if labels else made
        if not isinstance(target, Gauge):
            raise TypeError(f"{name} is not a gauge")
        target.set(value)

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Add an observation to a histogram."""
        made = self._made[name]
        target = made.labels(**labels) if labels else made
        if not isinstance(target, Histogram):
            raise TypeError(f"{name} is not a histogram")
        target.observe(value)

"""Names of topics and consumer groups (design: events are claim-check references; the key decides the partition)."""

from __future__ import annotations

from datetime import timedelta

DOCUMENT_ACCEPTED = "eunoe.document.accepted.v1"
DOCUMENT_EXTRACTED = "eunoe.document.extracted.v1"
MEMORIES_PROPOSED = "eunoe.memories.proposed.v1"
MEMORIES_EMBEDDED = "eunoe.memories.embedded.v1"
STAGE_FINISHED = "eunoe.stage.finished.v1"
URL_REQUESTED = "eunoe.url.requested.v1"
MEMORY_CHANGED = "eunoe.memory.changed.v1"
DOCUMENT_ERASED = "eunoe.document.erased.v1"

ALL = (
    DOCUMENT_ACCEPTED,
    DOCUMENT_EXTRACTED,
    MEMORIES_PROPOSED,
    MEMORIES_EMBEDDED,
    STAGE_FINISHED,
    URL_REQUESTED,
    MEMORY_CHANGED,
    DOCUMENT_ERASED,
)
PARTITIONS = 12

RETRY_DELAYS = (timedelta(seconds=1), timedelta(seconds=10), timedelta(minutes=1), timedelta(minutes=10))
"""Delay tiers of the retry topics; attempt n goes to tier min(n, last)."""


def retry_topic(topic: str, group: str, delay: timedelta) -> str:
    """`<topic>.<group>.retry.<seconds>s`: holds records of one tier in due order, so that its head is always the next due."""
    return f"{topic}.{group}.retry.{int(delay.total_seconds())}s"


def retry_delay(topic: str) -> timedelta | None:
    """The delay of a retry topic's tier; None for other topics."""
    _, is_retry, seconds = topic.rpartition(".retry.")
    return timedelta(seconds=int(seconds.removesuffix("s"))) if is_retry else None


def retry_prefix(topic: str, group: str) -> str:
    """How the names of a group's retry topics start."""
    return f"{topic}.{group}.retry."


def dead_topic(topic: str, group: str) -> str:
    """`<topic>.<group>.dead`: records that this group gave up on."""
    return f"{topic}.{group}.dead"


def document_key(tenant: str, document: str) -> str:
    """Partition key of a document's events."""
    return f"{tenant}/{document}"


def container_key(tenant: str, container: str) -> str:
    """Partition key of a container's events."""
    return f"{tenant}/{container}"

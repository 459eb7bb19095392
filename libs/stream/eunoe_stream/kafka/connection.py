"""How the clients are made: the FastStream broker that builds the group members, the producer, and the two that look from outside."""

from __future__ import annotations

import ssl
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.partitioner import DefaultPartitioner
from faststream.kafka import KafkaBroker
from faststream.kafka.security import parse_security
from faststream.security import BaseSecurity, SASLPlaintext, SASLScram256, SASLScram512

from eunoe_stream.kafka.config import KafkaSettings
from eunoe_stream.kafka.header_names import read_any_header_name
from eunoe_stream.kafka.wire import COPY_ROOM

MECHANISMS = {"PLAIN": SASLPlaintext, "SCRAM-SHA-256": SASLScram256, "SCRAM-SHA-512": SASLScram512}
BATCH_BYTES = 65_536
OBSERVER_FETCH_BYTES = 262_144

# Every consumer of the package is made here.
read_any_header_name()


def make_broker(settings: KafkaSettings, *, client_id: str) -> KafkaBroker:
    """A broker object that only builds subscribers: nothing is created on the cluster, and it publishes nothing (see ADR 10)."""
    return KafkaBroker(
        _servers(settings),
        client_id=client_id,
        security=_security(settings),
        consumer_only=True,
        allow_auto_create_topics=False,
        request_timeout_ms=_ms(settings.request_timeout_s),
        retry_backoff_ms=_ms(settings.retry_backoff_s),
        metadata_max_age_ms=_ms(settings.metadata_max_age_s),
        graceful_timeout=None,
        apply_types=False,
        # What it would log, the members log themselves, in our words.
        logger=None,
    )


def make_producer(settings: KafkaSettings, *, client_id: str) -> AIOKafkaProducer:
    """Idempotent: all in-sync replicas confirm, repetitions of the client are no duplicates."""
    return AIOKafkaProducer(
        **_connection(settings, client_id),
        acks="all",
        enable_idempotence=True,
        max_batch_size=BATCH_BYTES,
        max_request_size=settings.max_record_bytes + COPY_ROOM,
        partitioner=DefaultPartitioner(),
    )


def make_observer(settings: KafkaSettings, *, client_id: str) -> AIOKafkaConsumer:
    """A consumer without a group: it asks for offsets and reads without disturbing the members."""
    return AIOKafkaConsumer(
        **_connection(settings, client_id),
        group_id=None,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=OBSERVER_FETCH_BYTES,
    )


def make_admin(settings: KafkaSettings, *, client_id: str) -> AIOKafkaAdminClient:
    """For topics and committed offsets."""
    return AIOKafkaAdminClient(**_connection(settings, client_id))


def _connection(settings: KafkaSettings, client_id: str) -> dict[str, Any]:
    return {
        "bootstrap_servers": _servers(settings),
        "client_id": client_id,
        "request_timeout_ms": _ms(settings.request_timeout_s),
        "retry_backoff_ms": _ms(settings.retry_backoff_s),
        "metadata_max_age_ms": _ms(settings.metadata_max_age_s),
        **parse_security(_security(settings)),
    }


def _security(settings: KafkaSettings) -> BaseSecurity:
    context = _tls(settings) if settings.uses_tls else None
    if not settings.uses_sasl:
        return BaseSecurity(ssl_context=context, use_ssl=settings.uses_tls)
    mechanism = MECHANISMS[settings.sasl_mechanism]
    return mechanism(settings.sasl_username, settings.sasl_password.get_secret_value(), ssl_context=context, use_ssl=settings.uses_tls)


def _tls(settings: KafkaSettings) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=settings.tls_ca_file)
    context.check_hostname = settings.tls_check_hostname
    if settings.tls_cert_file is not None:
        context.load_cert_chain(settings.tls_cert_file, settings.tls_key_file)
    return context


def _servers(settings: KafkaSettings) -> list[str]:
    return [each.strip() for each in settings.bootstrap_servers.split(",") if each.strip()]


def _ms(seconds: float) -> int:
    return max(1, round(seconds * 1000))

"""The SQLAlchemy engine: how connections are made and what holds on each of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import Engine, create_engine
from sqlalchemy.pool import QueuePool

from eunoe_stores.postgres.config import PostgresSettings

IDLE_TRANSACTION_S = 60.0
"""A process that stands still inside a transaction loses it, and the locks that others wait for."""
KEEPALIVE = {"keepalives": 1, "keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 20_000}
"""A server that vanished from the network is noticed after half a minute (libpq counts seconds, the last one milliseconds)."""


def make_engine(parameters: Mapping[str, Any], *, pool_size: int, pool_timeout_s: float) -> Engine:
    """An engine with a pool of that many connections at most. It connects when it is first used."""

    def connect() -> psycopg.Connection[Any]:
        return psycopg.connect(**parameters)

    return create_engine(
        "postgresql+psycopg://",
        creator=connect,
        poolclass=QueuePool,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=pool_timeout_s,
        pool_use_lifo=True,
        # An error's text must not carry content.
        hide_parameters=True,
        use_native_hstore=False,
        query_cache_size=1_500,
    )


def connection_parameters(settings: PostgresSettings) -> dict[str, Any]:
    """What libpq is told. Raises psycopg's error for a URL that is none."""
    parts: dict[str, Any] = {
        "host": settings.host,
        "port": settings.port,
        "dbname": settings.database,
        "user": settings.user,
        "password": settings.password.get_secret_value() or None,
        "sslmode": settings.tls,
        "sslrootcert": settings.tls_ca,
        "sslcert": settings.tls_certificate,
        "sslkey": settings.tls_key,
        "connect_timeout": settings.connect_timeout_s,
        "application_name": "eunoe",
        # After a failover the old server may still answer; only one of them takes writes.
        "target_session_attrs": "read-write",
        "options": _options(settings),
        **KEEPALIVE,
    }
    given = conninfo_to_dict(settings.url.get_secret_value())
    return {name: value for name, value in {**parts, **given}.items() if value is not None}


def _options(settings: PostgresSettings) -> str:
    session = {
        "statement_timeout": _milliseconds(settings.statement_timeout_s),
        "lock_timeout": _milliseconds(settings.lock_timeout_s),
        "idle_in_transaction_session_timeout": _milliseconds(IDLE_TRANSACTION_S),
        "client_min_messages": "error",
        **({"search_path": settings.search_path} if settings.search_path else {}),
    }
    return " ".join(f"-c {name}={_escaped(value)}" for name, value in session.items())


def _milliseconds(seconds: float) -> str:
    return str(max(1, round(seconds * 1000)))


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace(" ", "\\ ")

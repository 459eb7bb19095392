"""Row versions that nobody can see any more: PostgreSQL keeps what was deleted or blanked until a VACUUM takes it away."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Engine, text

NOW = text("SELECT pg_current_xact_id()::text::bigint % 4294967296")
LOOKING_BACK = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid != pg_backend_pid() "
    "AND age(backend_xmin) > age(CAST(CAST(:now AS text) AS xid))"
)


def drop_old_versions(engine: Engine, tables: Sequence[str]) -> bool:
    """VACUUM the tables. False, and nothing done, while a transaction that began before could still see the old versions.

    A role that does not own the tables may not do it; then autovacuum does, when it comes by.
    """
    with engine.connect() as connection:
        try:
            now = connection.execute(NOW).scalar_one()
            if connection.execute(LOOKING_BACK, {"now": now}).scalar_one():
                return False
            connection.execute(text("SET statement_timeout = 0")).close()
            for each in tables:
                connection.execute(text(f"VACUUM {_quoted(connection, each)}")).close()
            return True
        finally:
            connection.invalidate()  # it has no time limit any more


def _quoted(connection: Connection, name: str) -> str:
    return connection.dialect.identifier_preparer.quote(name)

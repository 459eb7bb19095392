"""`Database` on PostgreSQL, for the Catalogue."""

from eunoe_stores.postgres.config import PostgresSettings
from eunoe_stores.postgres.opening import open_postgres

__all__ = ["PostgresSettings", "open_postgres"]

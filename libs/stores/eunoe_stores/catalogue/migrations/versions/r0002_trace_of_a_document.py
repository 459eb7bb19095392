"""The trace of the call that started a generation."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from eunoe_stores.catalogue.columns import short

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column; documents of before have no trace. With a default, so that SQLite adds it without copying the table."""
    op.add_column("documents", sa.Column("trace", short(64), nullable=False, server_default=""))

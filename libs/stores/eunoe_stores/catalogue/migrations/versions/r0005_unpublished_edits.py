"""Edits whose event is not on the log yet."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from eunoe_stores.catalogue.columns import Instant, short

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the table, empty: of earlier edits nobody knows any more which event was lost."""
    op.create_table(
        "unpublished_edits",
        sa.Column("tenant", short(64), nullable=False),
        sa.Column("memory", sa.Uuid, nullable=False),
        sa.Column("container", short(255), nullable=False),
        sa.Column("deleted", sa.Boolean, nullable=False),
        sa.Column("edited_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("memory", "tenant", name="unpublished_edits_key"),
    )

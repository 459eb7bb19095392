"""What the processes of each service can do."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from eunoe_stores.catalogue.columns import Document, Instant, short

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the table, which the processes fill when they start."""
    op.create_table(
        "capabilities",
        sa.Column("service", short(64), nullable=False),
        sa.Column("instance", short(64), nullable=False),
        sa.Column("names", Document, nullable=False),
        sa.Column("seen_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("service", "instance", name="capabilities_key"),
    )

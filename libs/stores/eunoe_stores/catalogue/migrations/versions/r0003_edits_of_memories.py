"""When a caller changed or removed a memory."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from eunoe_stores.catalogue.columns import Instant

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column. Of earlier edits nothing is known."""
    op.add_column("memories", sa.Column("edited_at", Instant, nullable=True))

"""${message}."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from eunoe_stores.catalogue.columns import Counter, Document, Instant

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    """Forward."""
    ${upgrades if upgrades else "pass"}

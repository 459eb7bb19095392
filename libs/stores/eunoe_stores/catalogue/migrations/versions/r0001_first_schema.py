"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from eunoe_stores.catalogue.columns import Counter, Document, Instant, Words, short

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create every table."""
    op.create_table(
        "dead_letters",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant", short(64), nullable=False),
        sa.Column("document", sa.Uuid(), nullable=True),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("container", short(255), nullable=False),
        sa.Column("document_name", Words, nullable=False),
        sa.Column("stage", short(64), nullable=False),
        sa.Column("code", short(64), nullable=False),
        sa.Column("message", Words, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("replays", sa.Integer(), nullable=False),
        sa.Column("first_failed_at", Instant(), nullable=False),
        sa.Column("last_failed_at", Instant(), nullable=False),
        sa.Column("replayed_at", Instant(), nullable=True),
        sa.Column("trace", short(128), nullable=False),
        sa.Column("topic", short(255), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("dead_letters_by_document", "dead_letters", ["document"], unique=False)
    op.create_index("dead_letters_by_time", "dead_letters", ["tenant", "last_failed_at"], unique=False)
    op.create_table(
        "documents",
        sa.Column("sequence", Counter, autoincrement=True, nullable=False),
        sa.Column("tenant", short(64), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("container", short(255), nullable=False),
        sa.Column("content_type", short(64), nullable=False),
        sa.Column("media_type", short(255), nullable=False),
        sa.Column("name", Words, nullable=False),
        sa.Column("name_key", Words, nullable=False),
        sa.Column("title", Words, nullable=False),
        sa.Column("title_key", Words, nullable=False),
        sa.Column("custom_id", Words, nullable=False),
        sa.Column("size", Counter, nullable=False),
        sa.Column("sha256", short(64), nullable=False),
        sa.Column("blob", Words, nullable=False),
        sa.Column("fingerprint", short(128), nullable=False),
        sa.Column("metadata", Document, nullable=False),
        sa.Column("tags", Document, nullable=False),
        sa.Column("session", Words, nullable=False),
        sa.Column("position", Counter, nullable=True),
        sa.Column("event_time", Instant(), nullable=True),
        sa.Column("source_url", Words, nullable=False),
        sa.Column("warnings", Document, nullable=False),
        sa.Column("status", short(16), nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("error_code", short(64), nullable=False),
        sa.Column("error_message", Words, nullable=False),
        sa.Column("degraded", Document, nullable=False),
        sa.Column("counts", Document, nullable=False),
        sa.Column("revision", Counter, nullable=False),
        sa.Column("published", sa.Boolean(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("updated_at", Instant(), nullable=False),
        sa.PrimaryKeyConstraint("sequence"),
        sa.UniqueConstraint("id", "tenant", name="documents_by_id"),
    )
    op.create_index("documents_by_container", "documents", ["tenant", "container", "sequence"], unique=False)
    if op.get_bind().dialect.name == "sqlite":
        op.create_index(
            "documents_by_custom_id",
            "documents",
            ["tenant", "custom_id"],
            unique=False,
            sqlite_where=sa.text("custom_id != ''"),
        )
    else:
        op.create_index(
            "documents_by_custom_id_hash",
            "documents",
            ["custom_id"],
            unique=False,
            postgresql_using="hash",
            postgresql_where=sa.text("custom_id != ''"),
        )
    op.create_index("documents_by_name", "documents", ["tenant", "name_key"], unique=False)
    op.create_index(
        "documents_by_session",
        "documents",
        ["tenant", "container", "session", "position"],
        unique=False,
        sqlite_where=sa.text("session != ''"),
        postgresql_where=sa.text("session != ''"),
    )
    op.create_index("documents_by_title", "documents", ["tenant", "title_key"], unique=False)
    op.create_index(
        "documents_open",
        "documents",
        ["sequence"],
        unique=False,
        sqlite_where=sa.text("is_open = 1"),
        postgresql_where=sa.text("is_open"),
    )
    op.create_table(
        "erasures",
        sa.Column("tenant", short(64), nullable=False),
        sa.Column("document", sa.Uuid(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("requested_at", Instant(), nullable=False),
        sa.Column("completed_at", Instant(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "document", "generation", name="erasures_key"),
    )
    op.create_index(
        "erasures_pending",
        "erasures",
        ["requested_at"],
        unique=False,
        sqlite_where=sa.text("completed_at IS NULL"),
        postgresql_where=sa.text("completed_at IS NULL"),
    )
    op.create_table(
        "memories",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant", short(64), nullable=False),
        sa.Column("container", short(255), nullable=False),
        sa.Column("kind", short(16), nullable=False),
        sa.Column("text", Words, nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("alive", sa.Boolean(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("tags", Document, nullable=False),
        sa.Column("metadata", Document, nullable=False),
        sa.Column("is_latest", sa.Boolean(), nullable=False),
        sa.Column("superseded_by", sa.Uuid(), nullable=True),
        sa.Column("event_time", Instant(), nullable=True),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("updated_at", Instant(), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant", name="memories_key"),
    )
    op.create_index("memories_by_container", "memories", ["tenant", "container", "created_at"], unique=False)
    op.create_table(
        "memory_sources",
        sa.Column("memory", sa.Uuid(), nullable=False),
        sa.Column("document", sa.Uuid(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("tenant", short(64), nullable=False),
        sa.Column("unit", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("span", Words, nullable=False),
        sa.Column("entities", Document, nullable=False),
        sa.PrimaryKeyConstraint("memory", "document", "generation", "tenant", name="memory_sources_key"),
    )
    op.create_index("memory_sources_by_document", "memory_sources", ["document", "generation"], unique=False)
    op.create_table(
        "notes",
        sa.Column("name", short(255), nullable=False),
        sa.Column("value", Words, nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "stages",
        sa.Column("document", sa.Uuid(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("stage", short(16), nullable=False),
        sa.Column("tenant", short(64), nullable=False),
        sa.Column("state", short(16), nullable=False),
        sa.Column("owner", short(128), nullable=False),
        sa.Column("lease_until", Instant(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("code", short(64), nullable=False),
        sa.Column("message", Words, nullable=False),
        sa.Column("updated_at", Instant(), nullable=False),
        sa.PrimaryKeyConstraint("document", "generation", "stage", "tenant", name="stages_key"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "tokens",
        sa.Column("id", short(64), nullable=False),
        sa.Column("tenant", short(64), nullable=False),
        sa.Column("name", Words, nullable=False),
        sa.Column("scopes", Document, nullable=False),
        sa.Column("secret_hash", short(128), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("expires_at", Instant(), nullable=True),
        sa.Column("revoked_at", Instant(), nullable=True),
        sa.Column("last_used_at", Instant(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("secret_hash", name="tokens_by_hash"),
    )
    op.create_table(
        "units",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("tenant", short(64), nullable=False),
        sa.Column("document", sa.Uuid(), nullable=False),
        sa.Column("container", short(255), nullable=False),
        sa.Column("kind", short(16), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("text", Words, nullable=False),
        sa.Column("context", Words, nullable=False),
        sa.Column("parent", sa.Uuid(), nullable=True),
        sa.Column("location", Document, nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("indexed", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", "generation", "tenant", name="units_key"),
    )
    op.create_index("units_by_document", "units", ["document", "generation"], unique=False)

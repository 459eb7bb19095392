"""Tables of the system of record, for SQLite and PostgreSQL. A change here needs a migration (`catalogue/migrations`).

`documents` keeps one row per document id: the current generation, or its tombstone. `stages` is the ledger. Everything that could
tell content is blanked by an erasure; ids, generations, codes and times stay.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    Uuid,
    true,
)

from eunoe_stores.catalogue.columns import Counter, Document, Instant, Words, short

metadata = MetaData()

documents = Table(
    "documents",
    metadata,
    Column("sequence", Counter, primary_key=True, autoincrement=True),  # order of acceptance
    Column("tenant", short(64), nullable=False),
    Column("id", Uuid, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("container", short(255), nullable=False),
    Column("content_type", short(64), nullable=False),
    Column("media_type", short(255), nullable=False),
    Column("name", Words, nullable=False),
    Column("name_key", Words, nullable=False),  # normalised name without its extension, for links by title
    Column("title", Words, nullable=False),
    Column("title_key", Words, nullable=False),
    Column("custom_id", Words, nullable=False),
    Column("size", Counter, nullable=False),
    Column("sha256", short(64), nullable=False),
    Column("blob", Words, nullable=False),
    Column("fingerprint", short(128), nullable=False),
    Column("metadata", Document, nullable=False),
    Column("tags", Document, nullable=False),
    Column("session", Words, nullable=False),  # from metadata, so that a turn finds the one before it by an index
    Column("position", Counter),
    Column("event_time", Instant),
    Column("source_url", Words, nullable=False),
    Column("warnings", Document, nullable=False),
    Column("status", short(16), nullable=False),
    Column("is_open", Boolean, nullable=False),
    Column("error_code", short(64), nullable=False),
    Column("error_message", Words, nullable=False),
    Column("degraded", Document, nullable=False),
    Column("counts", Document, nullable=False),
    Column("revision", Counter, nullable=False),
    Column("published", Boolean, nullable=False),
    Column("trace", short(64), nullable=False, server_default=""),  # traceparent of the call that started the generation
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    UniqueConstraint("id", "tenant", name="documents_by_id"),
)
_open = documents.c.is_open == true()
_has_custom_id = documents.c.custom_id != ""
_has_session = documents.c.session != ""
Index("documents_by_container", documents.c.tenant, documents.c.container, documents.c.sequence)
Index("documents_by_name", documents.c.tenant, documents.c.name_key)
Index("documents_by_title", documents.c.tenant, documents.c.title_key)
Index("documents_open", documents.c.sequence, sqlite_where=_open, postgresql_where=_open)
Index("documents_by_custom_id", documents.c.tenant, documents.c.custom_id, sqlite_where=_has_custom_id, info={"only": "sqlite"}).ddl_if(
    dialect="sqlite"
)
# A custom id is the caller's and may be longer than PostgreSQL lets a row of a B-tree be; it is looked up, never ordered by.
Index(
    "documents_by_custom_id_hash",
    documents.c.custom_id,
    postgresql_using="hash",
    postgresql_where=_has_custom_id,
    info={"only": "postgresql"},
).ddl_if(dialect="postgresql")
Index(
    "documents_by_session",
    documents.c.tenant,
    documents.c.container,
    documents.c.session,
    documents.c.position,
    sqlite_where=_has_session,
    postgresql_where=_has_session,
)

stages = Table(
    "stages",
    metadata,
    Column("document", Uuid, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("stage", short(16), nullable=False),
    Column("tenant", short(64), nullable=False),
    Column("state", short(16), nullable=False),
    Column("owner", short(128), nullable=False),
    Column("lease_until", Instant),
    Column("attempts", Integer, nullable=False),
    Column("code", short(64), nullable=False),
    Column("message", Words, nullable=False),
    Column("updated_at", Instant, nullable=False),
    PrimaryKeyConstraint("document", "generation", "stage", "tenant", name="stages_key"),
    sqlite_with_rowid=False,
)

units = Table(
    "units",
    metadata,
    Column("id", Uuid, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("tenant", short(64), nullable=False),
    Column("document", Uuid, nullable=False),
    Column("container", short(255), nullable=False),
    Column("kind", short(16), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("text", Words, nullable=False),
    Column("context", Words, nullable=False),
    Column("parent", Uuid),
    Column("location", Document, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("indexed", Boolean, nullable=False),
    PrimaryKeyConstraint("id", "generation", "tenant", name="units_key"),
)
Index("units_by_document", units.c.document, units.c.generation)

memories = Table(
    "memories",
    metadata,
    Column("id", Uuid, nullable=False),
    Column("tenant", short(64), nullable=False),
    Column("container", short(255), nullable=False),
    Column("kind", short(16), nullable=False),
    Column("text", Words, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("alive", Boolean, nullable=False),  # false: no source; the blanked row stays so that the epoch never repeats
    Column("confidence", Float, nullable=False),
    Column("tags", Document, nullable=False),
    Column("metadata", Document, nullable=False),
    Column("is_latest", Boolean, nullable=False),
    Column("superseded_by", Uuid),
    Column("event_time", Instant),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("edited_at", Instant),  # when a caller last changed it; of one that is not alive, when a caller removed it
    PrimaryKeyConstraint("id", "tenant", name="memories_key"),
)
Index("memories_by_container", memories.c.tenant, memories.c.container, memories.c.created_at)

memory_sources = Table(
    "memory_sources",
    metadata,
    Column("memory", Uuid, nullable=False),
    Column("document", Uuid, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("tenant", short(64), nullable=False),
    Column("unit", Uuid, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("span", Words, nullable=False),
    Column("entities", Document, nullable=False),
    PrimaryKeyConstraint("memory", "document", "generation", "tenant", name="memory_sources_key"),
)
Index("memory_sources_by_document", memory_sources.c.document, memory_sources.c.generation)

erasures = Table(
    "erasures",
    metadata,
    Column("tenant", short(64), nullable=False),
    Column("document", Uuid, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("requested_at", Instant, nullable=False),
    Column("completed_at", Instant),
    PrimaryKeyConstraint("tenant", "document", "generation", name="erasures_key"),
)
_pending = erasures.c.completed_at.is_(None)
Index("erasures_pending", erasures.c.requested_at, sqlite_where=_pending, postgresql_where=_pending)

dead_letters = Table(
    "dead_letters",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("tenant", short(64), nullable=False),
    Column("document", Uuid),
    Column("generation", Integer, nullable=False),
    Column("container", short(255), nullable=False),
    Column("document_name", Words, nullable=False),
    Column("stage", short(64), nullable=False),  # a Stage; for a record without one, the consumer group
    Column("code", short(64), nullable=False),
    Column("message", Words, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("replays", Integer, nullable=False),
    Column("first_failed_at", Instant, nullable=False),
    Column("last_failed_at", Instant, nullable=False),
    Column("replayed_at", Instant),
    Column("trace", short(128), nullable=False),
    Column("topic", short(255), nullable=False),
)
Index("dead_letters_by_time", dead_letters.c.tenant, dead_letters.c.last_failed_at)
Index("dead_letters_by_document", dead_letters.c.document)

tokens = Table(
    "tokens",
    metadata,
    Column("id", short(64), primary_key=True),
    Column("tenant", short(64), nullable=False),
    Column("name", Words, nullable=False),
    Column("scopes", Document, nullable=False),
    Column("secret_hash", short(128), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("revoked_at", Instant),
    Column("last_used_at", Instant),
    UniqueConstraint("secret_hash", name="tokens_by_hash"),
)

notes = Table(
    "notes",
    metadata,
    Column("name", short(255), primary_key=True),
    Column("value", Words, nullable=False),
)

unpublished_edits = Table(
    "unpublished_edits",
    metadata,
    Column("tenant", short(64), nullable=False),
    Column("memory", Uuid, nullable=False),
    Column("container", short(255), nullable=False),
    Column("deleted", Boolean, nullable=False),
    Column("edited_at", Instant, nullable=False),
    PrimaryKeyConstraint("memory", "tenant", name="unpublished_edits_key"),
)

capabilities = Table(
    "capabilities",
    metadata,
    Column("service", short(64), nullable=False),
    Column("instance", short(64), nullable=False),
    Column("names", Document, nullable=False),
    Column("seen_at", Instant, nullable=False),
    PrimaryKeyConstraint("service", "instance", name="capabilities_key"),
)

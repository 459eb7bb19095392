"""Alembic environment: runs on the connection, and in the transaction, that `migrate` hands over."""

from __future__ import annotations

from alembic import context

from eunoe_stores.catalogue.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=context.config.attributes["version_table"],
    render_as_batch=True,  # SQLite alters a table by copying it
)
context.run_migrations()

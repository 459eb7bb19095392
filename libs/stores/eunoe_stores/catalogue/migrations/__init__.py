"""Alembic migrations of the catalogue; `eunoe_stores.catalogue.migration.migrate` runs them."""

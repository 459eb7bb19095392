"""The Catalogue on SQLAlchemy Core: the same code on SQLite and PostgreSQL, one noun per file."""

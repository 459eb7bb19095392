"""SQLite shared by the embedded adapters."""

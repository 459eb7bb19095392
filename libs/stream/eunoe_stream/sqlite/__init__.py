"""The Log port on a shared SQLite file."""

from eunoe_stream.sqlite.log import SqliteLog

__all__ = ["SqliteLog"]

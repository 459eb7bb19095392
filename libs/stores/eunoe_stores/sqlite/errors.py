"""From SQLite's errors to ours. Messages name SQLite's result code only, never a statement or a value."""

from __future__ import annotations

import sqlite3

from eunoe_contracts.errors import StorageFull, StoreUnavailable
from sqlalchemy import exc

_PRIMARY_CODE = 0xFF  # an extended result code holds the primary code in its low byte (https://sqlite.org/rescode.html)


def mapped(error: BaseException) -> BaseException:
    """`StorageFull` for SQLITE_FULL, `StoreUnavailable` for what the file or the engine refuses, else the error itself.

    A constraint that does not hold, or a wrong statement, stays what it is: that is the caller's to know.
    """
    original = error.orig if isinstance(error, exc.DBAPIError) else error
    if not isinstance(original, sqlite3.DatabaseError):
        return error
    if isinstance(original, (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.DataError)):
        return error
    code = getattr(original, "sqlite_errorcode", 0)
    name = getattr(original, "sqlite_errorname", "SQLITE_ERROR")
    named: StorageFull | StoreUnavailable
    named = StorageFull() if code & _PRIMARY_CODE == sqlite3.SQLITE_FULL else StoreUnavailable(f"the database did not answer ({name})")
    named.__cause__ = error
    return named

"""From PostgreSQL's errors to ours, decided by SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html).

Messages name the SQLSTATE and the constraint, never the server's own text: its details repeat the values of a row. For the same
reason the original error is not attached.
"""

from __future__ import annotations

import psycopg
from eunoe_contracts.errors import EunoeError, InternalError, StorageFull, StoreUnavailable
from sqlalchemy import exc

OUTRUN = frozenset({"40001", "40P01", "23505"})
"""A serialization failure, a deadlock, a unique key: another transaction was faster, and the same work may succeed when it runs again."""
READ_ONLY = "25006"
"""The server was demoted to a standby since the connection was made."""
_FULL = "53100"
_WRONG = frozenset({"0A", "21", "22", "23", "42", "54", "P0"})
"""Classes of what a statement or a value is wrong about; all others mean that the server could not answer now."""
_REFUSED = "42501"
"""Insufficient privilege: nothing is wrong with the item that asked, so it is an outage until somebody grants it."""


def sqlstate(error: BaseException) -> str:
    """The five letters, empty when the server said nothing (it is away)."""
    original = error.orig if isinstance(error, exc.DBAPIError) else error
    return (original.sqlstate or "") if isinstance(original, psycopg.Error) else ""


def is_disconnected(error: BaseException) -> bool:
    """The connection is of no more use; another one may be."""
    return (isinstance(error, exc.DBAPIError) and error.connection_invalidated) or sqlstate(error) == READ_ONLY


def mapped(error: BaseException) -> BaseException:
    """`StorageFull`, `StoreUnavailable` for a server that could not answer, `InternalError` for a statement or value that it will
    never take; an error that is not the database's comes back as it is.
    """
    if isinstance(error, exc.TimeoutError):
        return StoreUnavailable("no connection to the database became free")
    if not isinstance(error, (exc.SQLAlchemyError, psycopg.Error)):
        return error
    state = sqlstate(error)
    if state == _FULL:
        return StorageFull()
    if _is_wrong(error, state):
        return _wrong(error, state)
    return StoreUnavailable(f"the database did not answer ({state or 'no connection'})")


def _is_wrong(error: BaseException, state: str) -> bool:
    if state:
        return state[:2] in _WRONG and state != _REFUSED
    # Refused before it was sent: a value that has no form on the wire, or a mistake in the use of SQLAlchemy.
    return not isinstance(error, exc.DBAPIError) or isinstance(error, (exc.DataError, exc.ProgrammingError, exc.NotSupportedError))


def _wrong(error: BaseException, state: str) -> EunoeError:
    original = error.orig if isinstance(error, exc.DBAPIError) else error
    constraint = original.diag.constraint_name if isinstance(original, psycopg.Error) else None
    where = f", {constraint}" if constraint else ""
    return InternalError(f"the database refused a statement ({state or type(error).__name__}{where})")

"""From the driver's errors to ours. Messages name Neo4j's status code or the driver's class only, never a statement or a value."""

from __future__ import annotations

from eunoe_contracts.errors import DeadlineExceeded, EunoeError, InternalError, StoreUnavailable
from neo4j.exceptions import AuthError, ClientError, DatabaseError, Forbidden, Neo4jError

TOO_LATE = frozenset(
    {"Neo.ClientError.Transaction.TransactionTimedOut", "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"}
)
RACED = frozenset({"Neo.ClientError.Statement.EntityNotFound", "Neo.ClientError.Schema.ConstraintValidationFailed"})
"""Another transaction removed, or connected, a node between our look and our lock. The next try sees it."""


class RaceLost(Exception):
    """What was there when this transaction looked had gone when it wrote; the next try sees it."""


def is_race(error: Exception) -> bool:
    """Trying the whole transaction again is right, although the driver would not."""
    return isinstance(error, RaceLost) or (isinstance(error, Neo4jError) and error.code in RACED)


def mapped(error: Exception) -> EunoeError:
    """Ours for an error of the driver or the network.

    An error that is a defect of the program or its data is an `InternalError`: counted, then a dead letter. All others tell of the
    server or the way to it, whatever the item.
    """
    if isinstance(error, Neo4jError):
        return _of_server(error, error.code or type(error).__name__)
    return StoreUnavailable(f"the graph did not answer ({type(error).__name__})")


def _of_server(error: Neo4jError, code: str) -> EunoeError:
    if code in TOO_LATE:
        return DeadlineExceeded("the graph did not finish a statement in time")
    if isinstance(error, (AuthError, Forbidden)):
        return StoreUnavailable(f"the graph refused the user ({code})")
    if isinstance(error, (ClientError, DatabaseError)) and not is_race(error):
        return InternalError(f"the graph refused a statement ({code})")
    return StoreUnavailable(f"the graph did not take the work ({code})")

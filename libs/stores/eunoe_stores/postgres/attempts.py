"""Running one work in one transaction, again where PostgreSQL asks for it."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable
from typing import TypeVar

from eunoe_contracts.errors import StoreUnavailable
from sqlalchemy import Connection, Engine

from eunoe_stores.postgres.calls import Call
from eunoe_stores.postgres.errors import OUTRUN, READ_ONLY, is_disconnected, mapped, sqlstate

T = TypeVar("T")
FIRST_REST_S = 0.005
LONGEST_REST_S = 0.5
NEW_CONNECTIONS = 2
"""A connection may have died while it lay in the pool, with all that lay beside it; a fresh one tells whether the server is there."""


class UnknownOutcome(Exception):
    """The connection was lost between COMMIT and its answer."""


def in_own_words(work: Callable[[], T], call: Call) -> T:
    """The result of something that is no transaction, run once."""
    call.check()
    try:
        return work()
    except Exception as error:
        named = mapped(error)
        if named is error:
            raise
        raise named from None


def run(engine: Engine, work: Callable[[Connection], T], call: Call, *, attempts: int) -> T:
    """The result of the work, committed. Raises what the work raises, and errors of our tree in place of the database's.

    It runs again when the server rolled it back in favour of another one. So it does for a row that was not there when it looked, and was
    when it inserted: it finds that row then. What still collides at last is a mistake of the caller's.
    """
    connections = 0
    for attempt in itertools.count(1):
        call.check()
        try:
            return _once(engine, work, call)
        except UnknownOutcome:
            # Not run again here: the second run would answer as if somebody else had done it. The caller repeats the whole step.
            raise StoreUnavailable("the database did not say whether it has committed") from None
        except Exception as error:
            call.check()
            connections += is_disconnected(error)
            may_fit = sqlstate(error) in OUTRUN and attempt < attempts
            if not may_fit and not (is_disconnected(error) and connections <= NEW_CONNECTIONS):
                named = mapped(error)
                if named is error:
                    raise
                raise named from None
        time.sleep(_rest(attempt))
    raise AssertionError  # the loop has no end


def _once(engine: Engine, work: Callable[[Connection], T], call: Call) -> T:
    with engine.connect() as connection, call.using(connection):
        try:
            result = work(connection)
        except Exception as error:
            if sqlstate(error) == READ_ONLY:
                connection.invalidate()
            raise
        try:
            connection.commit()
        except Exception as error:
            if is_disconnected(error):
                raise UnknownOutcome from None
            raise
        return result


def _rest(attempt: int) -> float:
    longest = min(LONGEST_REST_S, FIRST_REST_S * 2**attempt)
    return random.uniform(longest / 2, longest)  # noqa: S311 - so that those who met do not meet again

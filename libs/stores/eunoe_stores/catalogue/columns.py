"""Column types that mean the same on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import JSON, BigInteger, Dialect, Integer
from sqlalchemy.types import TypeDecorator

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

Counter = BigInteger().with_variant(Integer(), "sqlite")
"""A number the database gives out; SQLite does so only for a column of type INTEGER."""

Document = JSON(none_as_null=True)
"""A JSON value."""


class Instant(TypeDecorator[datetime]):
    """An aware datetime as microseconds since 1970 (UTC): SQLite has no type for times, and integers compare exactly."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, _dialect: Dialect) -> int | None:
        """To microseconds. A naive datetime is refused by the subtraction."""
        return None if value is None else (value - EPOCH) // _MICROSECOND

    def process_result_value(self, value: int | None, _dialect: Dialect) -> datetime | None:
        """To an aware datetime."""
        return None if value is None else EPOCH + timedelta(microseconds=value)

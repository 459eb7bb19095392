"""Column types that mean the same on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import JSON, BigInteger, Dialect, Integer, String, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

Counter = BigInteger().with_variant(Integer(), "sqlite")
"""A number the database gives out; SQLite does so only for a column of type INTEGER."""

Document = JSON(none_as_null=True)
"""A JSON value. On PostgreSQL `json`, not `jsonb`: it comes back letter by letter, with every letter that JSON has."""


class PostgresText(TypeDecorator[str]):
    """Text that PostgreSQL treats as SQLite does: of any length, compared and ordered by bytes, whatever the locale of the server.

    PostgreSQL has no text with the character NUL. The doors and the parsers take it out of content; where it comes in all the same
    (a title in somebody's metadata, a message), U+FFFD is stored in its place, so that offsets stay.
    """

    impl = Text
    cache_ok = True

    def __init__(self) -> None:
        super().__init__(collation="C")

    def process_bind_param(self, value: str | None, _dialect: Dialect) -> str | None:
        """Without NUL; also where a value is compared, so that what was stored is found."""
        return value.replace("\0", "\ufffd") if value is not None and "\0" in value else value


Words: TypeEngine[str] = Text().with_variant(PostgresText(), "postgresql")
"""Text of any length."""


def short(length: int) -> TypeEngine[str]:
    """Text that should not be longer than this; neither database enforces it."""
    return String(length).with_variant(PostgresText(), "postgresql")


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

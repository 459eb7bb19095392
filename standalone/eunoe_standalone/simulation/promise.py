"""The one way to say that the promise does not hold."""

from __future__ import annotations


class Broken(AssertionError):
    """The promise does not hold."""


def expect(holds: object, what: str) -> None:
    """Raise `Broken` unless it holds."""
    if not holds:
        raise Broken(what)

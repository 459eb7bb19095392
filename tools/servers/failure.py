"""What can go wrong."""

from __future__ import annotations


class ServerFailure(Exception):
    """A server could not be installed or started; the message says what to do."""

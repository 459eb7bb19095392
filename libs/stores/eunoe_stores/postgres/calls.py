"""A call on its way through a thread, which can be given up from outside."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator

import psycopg
from eunoe_contracts.errors import StoreUnavailable
from sqlalchemy import Connection


class Call:
    """One call. A server that stopped without closing its connections leaves a thread waiting for ever; `give_up` frees it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._driver: psycopg.Connection[object] | None = None
        self._is_given_up = False

    def check(self) -> None:
        """Raises `StoreUnavailable` when nobody waits for the call any more."""
        if self._is_given_up:
            raise StoreUnavailable("the database did not answer in time")

    @contextlib.contextmanager
    def using(self, connection: Connection) -> Iterator[None]:
        """While the context lives, the call waits for this connection."""
        driver = connection.connection.driver_connection
        assert isinstance(driver, psycopg.Connection)  # noqa: S101 - tells mypy what the engine makes
        with self._lock:
            self.check()
            self._driver = driver
        try:
            yield
        finally:
            # From here on the connection may be another call's.
            with self._lock:
                self._driver = None

    def give_up(self) -> None:
        """Nobody waits any more: what waits for the server fails now, what has not begun will not."""
        with self._lock:
            self._is_given_up = True
            if self._driver is not None and not self._driver.closed:
                _hang_up(self._driver.fileno())


def _hang_up(descriptor: int) -> None:
    # Not `close`: the thread that waits on the descriptor would go on waiting, perhaps on one that is then somebody else's.
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as ours:
        ours.shutdown(socket.SHUT_RDWR)

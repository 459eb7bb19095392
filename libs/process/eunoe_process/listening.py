"""Addresses and sockets of the listeners."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from eunoe_contracts.errors import ConfigurationError
from eunoe_safety.web_guard import is_loopback

MAX_PORT = 65_535
BACKLOG = 1024


@dataclass(frozen=True, slots=True)
class Address:
    """Host and port; port 0 asks the system for a free one."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str, *, setting: str) -> Address:
        """`HOST:PORT` or `[IPv6]:PORT`; raises `ConfigurationError` naming the setting."""
        host, separator, port = text.rpartition(":")
        if not separator or not host or not port.isdigit() or int(port) > MAX_PORT:
            raise ConfigurationError(f"{setting}: '{text}' is not HOST:PORT, for example 127.0.0.1:8080")
        return cls(host.strip("[]"), int(port))

    @property
    def is_loopback(self) -> bool:
        """True when only this machine can connect."""
        return is_loopback(self.host)

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def bound_socket(address: Address) -> socket.socket:
    """A listening TCP socket; raises `ConfigurationError` when the address is taken or not ours."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # The protocol is named because asyncio switches Nagle's algorithm off only where it is; else each answer waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address.host, address.port))
    except OSError as error:
        listener.close()
        raise ConfigurationError(f"cannot listen on {address}: {error.strerror}") from error
    listener.listen(BACKLOG)
    listener.setblocking(False)  # noqa: FBT003 - the standard library's signature
    return listener

"""The secret that processes share. Between processes of one machine it may be missing; beyond it never."""

from __future__ import annotations

import hmac
from collections.abc import Iterable

from eunoe_contracts.errors import ConfigurationError

from eunoe_process.listening import Address

VARIABLE = "EUNOE_INTERNAL__SECRET"
SHORTEST = 16
HEADER = "authorization"
SCHEME = "Bearer "


def checked_secret(secret: str, addresses: Iterable[Address]) -> str:
    """The secret itself. Raises `ConfigurationError` when it is too short to be one, or missing and an address is not on loopback."""
    if secret and len(secret) < SHORTEST:
        raise ConfigurationError(f"{VARIABLE}: at least {SHORTEST} characters, for example from `openssl rand -hex 32`")
    far = next((each for each in addresses if not each.is_loopback), None)
    if far is not None and not secret:
        raise ConfigurationError(
            f"{VARIABLE} is not set, and {far} can be reached by other machines: give every process the same secret, "
            "for example from `openssl rand -hex 32`"
        )
    return secret


def call_metadata(secret: str) -> tuple[tuple[str, str], ...]:
    """What a caller sends."""
    return ((HEADER, SCHEME + secret),) if secret else ()


def is_one_of_us(given: str, secret: str) -> bool:
    """Whether a caller sent the secret. Without one on this side everybody is let in, which `checked_secret` allows on loopback only."""
    return not secret or hmac.compare_digest(given.encode(), (SCHEME + secret).encode())

"""Tenants, scopes and container names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote

from eunoe_contracts.errors import InvalidField

DEFAULT_TENANT = "default"
MAX_CONTAINER_LENGTH = 255
_TENANT = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Scope(StrEnum):
    """What a token may do; `admin` includes the others."""

    INGEST = "ingest"
    SEARCH = "search"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who is calling, from the verified token only, never from a body."""

    tenant: str
    scopes: frozenset[Scope]
    token_id: str = ""
    local_operator: bool = False

    def may(self, scope: Scope) -> bool:
        """True when the scope, or admin, was granted."""
        return scope in self.scopes or Scope.ADMIN in self.scopes


def checked_tenant(name: str) -> str:
    """The tenant name itself, or `InvalidField`."""
    if not _TENANT.match(name):
        raise InvalidField("tenant: use 1 to 64 letters, digits, '-' or '_'")
    return name


def checked_container(name: str) -> str:
    """A container path such as `team.project`; `InvalidField` names what is wrong."""
    if not name:
        raise InvalidField("container: must not be empty")
    if len(name) > MAX_CONTAINER_LENGTH:
        raise InvalidField(f"container: at most {MAX_CONTAINER_LENGTH} characters")
    if _CONTROL.search(name) or "*" in name:
        raise InvalidField("container: control characters and '*' are not allowed")
    if any(not segment for segment in name.split(".")):
        raise InvalidField("container: empty segment; write a.b.c")
    return name


def ancestors(container: str) -> tuple[str, ...]:
    """`a.b.c` -> (`a.b`, `a`), nearest first."""
    parts = container.split(".")
    return tuple(".".join(parts[:count]) for count in range(len(parts) - 1, 0, -1))


def container_segment(foreign_id: str) -> str:
    """A foreign id as one container segment, percent-encoded (`.` becomes `%2E`)."""
    return quote(foreign_id, safe="").replace(".", "%2E").replace("*", "%2A")

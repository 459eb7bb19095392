"""Tenants, scopes and container names."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote

from eunoe_contracts.errors import InvalidField

DEFAULT_TENANT = "default"
MAX_CONTAINER_LENGTH = 255
_TENANT = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})
_JOINERS = "\u200c\u200d"


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
    """A container path such as `team.project`; `InvalidField` names what is wrong.

    Segments may hold whatever can be read, as MemoryDB's may. What cannot be seen is refused: two names would look the same.
    """
    if not name:
        raise InvalidField("container: must not be empty")
    if len(name) > MAX_CONTAINER_LENGTH:
        raise InvalidField(f"container: at most {MAX_CONTAINER_LENGTH} characters")
    if "*" in name:
        raise InvalidField("container: '*' is not allowed in a name")
    for segment in name.split("."):
        if not segment:
            raise InvalidField("container: empty segment; write a.b.c")
        if unseen := _unseen(segment):
            raise InvalidField(f"container: U+{ord(unseen):04X} is not allowed there, because it cannot be seen")
        if segment != segment.strip():
            raise InvalidField("container: a segment must not begin or end with a space")
    return name


def _unseen(segment: str) -> str:
    """The first character that does not show; empty when all do. Joiners show inside of words, of which they are a part."""
    for at, character in enumerate(segment):
        is_inside = 0 < at < len(segment) - 1
        if unicodedata.category(character) in _UNSEEN and character != " " and not (is_inside and character in _JOINERS):
            return character
    return ""


def ancestors(container: str) -> tuple[str, ...]:
    """`a.b.c` -> (`a.b`, `a`), nearest first."""
    parts = container.split(".")
    return tuple(".".join(parts[:count]) for count in range(len(parts) - 1, 0, -1))


def container_segment(foreign_id: str) -> str:
    """A foreign id as one container segment, percent-encoded (`.` becomes `%2E`)."""
    return quote(foreign_id, safe="").replace(".", "%2E").replace("*", "%2A")

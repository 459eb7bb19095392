"""W3C Trace Context: the one line, `traceparent`, that ties together what one call causes. Callers give it, events carry it."""

from __future__ import annotations

import re
from dataclasses import dataclass

HEADER = "traceparent"
"""Name of the HTTP header, of the gRPC metadata and of the event header."""
KNOWN_FLAGS = 0x01
"""Sampled; the others mean nothing yet and are sent as zero."""

_FORM = re.compile(r"(?P<version>[0-9a-f]{2})-(?P<id>[0-9a-f]{32})-(?P<parent>[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})(?P<more>-.*)?\Z")


@dataclass(frozen=True, slots=True)
class Trace:
    """`id` names the trace (32 hex digits), `parent` the step in it that causes what follows (16 hex digits)."""

    id: str
    parent: str
    flags: int = KNOWN_FLAGS

    def __str__(self) -> str:
        return f"00-{self.id}-{self.parent}-{self.flags:02x}"

    def step(self, parent: str) -> Trace:
        """The same trace one step on."""
        return Trace(self.id, parent, self.flags)


def parse(text: str) -> Trace | None:
    """The trace of a `traceparent`; None for what is not one, which the standard says to ignore."""
    found = _FORM.match(text.strip())
    if found is None or found["version"] == "ff" or (found["version"] == "00" and found["more"]):
        return None
    if not int(found["id"], 16) or not int(found["parent"], 16):
        return None
    return Trace(found["id"], found["parent"], int(found["flags"], 16) & KNOWN_FLAGS)

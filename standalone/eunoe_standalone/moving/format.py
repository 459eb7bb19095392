"""The file that `eunoe export` writes: a tar that can be written and read as a stream, with a checksum of everything at its end.

    manifest.json             what it is, its version, when it was made, how many documents to expect
    documents/0000001.json    a document as the API tells it
    documents/0000001.bin     its bytes; and so on, in order of acceptance
    memories/edited-0001.jsonl    memories that callers changed, one per line
    memories/removed-0001.jsonl   memories that callers removed, one per line
    end.json                  counts, and the checksum of the names and checksums of all members before it

A reader that has not seen `end.json` has seen a part.
"""

from __future__ import annotations

import hashlib
import re

FORMAT = "eunoe-export"
VERSION = 1
MANIFEST, END = "manifest.json", "end.json"
MEMBER = re.compile(r"(documents/(?P<number>\d{7,})\.(?P<kind>json|bin)|memories/(?P<state>edited|removed)-\d{4,}\.jsonl)\Z")
LONGEST_RECORD = 64 * 1024 * 1024
"""Bytes of a member that is read into memory; metadata of a document have 64 KiB unless a server was set otherwise."""
PIECE = 256 * 1024
MEMORIES_PER_MEMBER = 500
IN_MEMORY = 8 * 1024 * 1024
"""Documents up to this size wait in memory, larger ones in a temporary file, until all their bytes were seen."""


class Digest:
    """The checksum over names and contents of all members, in order."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, name: str, sha256: str) -> None:
        """One more member."""
        self._hash.update(f"{name}\0{sha256}\n".encode())

    def value(self) -> str:
        """In hex."""
        return self._hash.hexdigest()

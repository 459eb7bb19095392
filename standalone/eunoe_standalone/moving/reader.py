"""Reading an export: every member is looked at before anything of it is given out, and nothing is ever unpacked to a path."""

from __future__ import annotations

import hashlib
import json
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from eunoe.v1 import types_pb2
from eunoe_contracts.errors import InvalidRequest
from google.protobuf import json_format

from eunoe_standalone.moving.format import END, FORMAT, IN_MEMORY, LONGEST_RECORD, MANIFEST, MEMBER, PIECE, VERSION, Digest

STDIN = "-"
UNREADABLE = (tarfile.TarError, EOFError, zlib.error, OSError)
EARLY = "the export ends early: a part of it is missing"


@dataclass(frozen=True, slots=True)
class Part:
    """One step of an export. `kind`: manifest, document, edited, removed, end."""

    kind: str
    record: Mapping[str, Any] = field(default_factory=dict)
    records: tuple[Mapping[str, Any], ...] = ()
    document: types_pb2.Document = field(default_factory=types_pb2.Document)
    content: IO[bytes] | None = None
    """The bytes, from their beginning, as long as no further part was asked for. None when they were only to be checked."""


class Reader:
    """The parts of one export, in order. `with_content=False` checks the bytes of documents without keeping them."""

    def __init__(self, tar: tarfile.TarFile, *, with_content: bool) -> None:
        self._tar = tar
        self._with_content = with_content
        self._digest = Digest()
        self._documents = 0

    def parts(self) -> Iterator[Part]:
        """Raises `InvalidRequest` at the first thing that is not as it was written, and at the end when a part is missing."""
        ended = False
        first = self._next()
        if first is None or first.name != MANIFEST:
            raise InvalidRequest("this is no export of eunoe")
        yield Part("manifest", _checked_manifest(self._record(first)))
        while (member := self._next()) is not None:
            if ended:
                raise InvalidRequest(f"the export has a member after its end: {member.name[:100]!r}")
            if member.name == END:
                ended = True
                yield self._end(member)
            else:
                yield from self._part(member)
        if not ended:
            raise InvalidRequest(EARLY)

    def _part(self, member: tarfile.TarInfo) -> Iterator[Part]:
        found = MEMBER.match(member.name)
        if found is None or not member.isreg():
            raise InvalidRequest(f"the export has a member that does not belong there: {member.name[:100]!r}")
        if found["state"]:
            yield Part(found["state"], records=tuple(_parsed(line) for line in self._bytes(member).splitlines() if line))
            return
        self._documents += 1
        if found["kind"] != "json" or int(found["number"]) != self._documents:
            raise InvalidRequest(f"the export lacks what belongs before {member.name}")
        document = _document(self._record(member))
        content = self._next()
        if content is None:
            raise InvalidRequest(EARLY)
        if content.name != member.name.removesuffix("json") + "bin":
            raise InvalidRequest(f"the export lacks the bytes that belong after {member.name}")
        with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as kept:
            self._copy(content, document, kept if self._with_content else None)
            kept.seek(0)
            yield Part("document", document=document, content=kept if self._with_content else None)

    def _copy(self, member: tarfile.TarInfo, document: types_pb2.Document, target: IO[bytes] | None) -> None:
        digest, size = hashlib.sha256(), 0
        for piece in self._pieces(member):
            digest.update(piece)
            size += len(piece)
            if target is not None:
                target.write(piece)
        self._digest.add(member.name, digest.hexdigest())
        if (size, digest.hexdigest()) != (document.size_bytes, document.sha256):
            raise InvalidRequest(f"the export is damaged: {member.name} does not have the checksum that it was written with")

    def _end(self, member: tarfile.TarInfo) -> Part:
        expected = self._digest.value()
        record = self._record(member)
        if record.get("sha256") != expected or record.get("documents") != self._documents:
            raise InvalidRequest("the export is damaged: it does not have the checksum that it was written with")
        return Part("end", record)

    def _next(self) -> tarfile.TarInfo | None:
        try:
            return self._tar.next()
        except UNREADABLE as error:
            raise InvalidRequest(EARLY) from error

    def _pieces(self, member: tarfile.TarInfo) -> Iterator[bytes]:
        left = member.size
        try:
            file = self._tar.extractfile(member)
            while left and file is not None and (piece := file.read(min(left, PIECE))):
                left -= len(piece)
                yield piece
        except UNREADABLE as error:
            raise InvalidRequest(EARLY) from error
        if left:
            raise InvalidRequest(EARLY)

    def _bytes(self, member: tarfile.TarInfo) -> bytes:
        if member.size > LONGEST_RECORD:
            raise InvalidRequest(f"the export is damaged: {member.name} is too large")
        data = b"".join(self._pieces(member))
        self._digest.add(member.name, hashlib.sha256(data).hexdigest())
        return data

    def _record(self, member: tarfile.TarInfo) -> Mapping[str, Any]:
        return _parsed(self._bytes(member))


def _parsed(data: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("the export is damaged: a record is not JSON") from error
    if not isinstance(found, dict):
        raise InvalidRequest("the export is damaged: a record is no JSON object")
    return found


def _checked_manifest(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    version = manifest.get("version")
    if manifest.get("format") != FORMAT or not isinstance(version, int):
        raise InvalidRequest("this is no export of eunoe")
    if version > VERSION:
        raise InvalidRequest(f"the export has version {version} of the format, this program knows up to {VERSION}; install a newer eunoe")
    return manifest


def _document(record: Mapping[str, Any]) -> types_pb2.Document:
    try:
        return json_format.ParseDict(dict(record), types_pb2.Document(), ignore_unknown_fields=True)
    except (json_format.ParseError, RecursionError) as error:
        raise InvalidRequest("the export is damaged: a record is not what it was written as") from error


@contextmanager
def reading(source: str, *, with_content: bool) -> Iterator[Reader]:
    """A reader of a file, or of standard input for `-`, compressed or not. Raises `InvalidRequest`."""
    with ExitStack() as stack:
        try:
            file = sys.stdin.buffer if source == STDIN else stack.enter_context(Path(source).open("rb"))
            tar = stack.enter_context(tarfile.open(fileobj=file, mode="r|*", bufsize=PIECE))
        except UNREADABLE as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "this is no export of eunoe"
            raise InvalidRequest(f"{source}: {reason}") from error
        yield Reader(tar, with_content=with_content)


def check(source: str) -> int:
    """Read a file to its end; returns how many documents it has. Raises `InvalidRequest` when anything is not as it was written."""
    with reading(source, with_content=False) as reader:
        return sum(part.kind == "document" for part in reader.parts())

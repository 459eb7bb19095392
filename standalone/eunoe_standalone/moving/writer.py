"""Writing an export."""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from eunoe_contracts.errors import InvalidRequest

from eunoe_standalone.moving.format import END, MANIFEST, PIECE, Digest

STDOUT = "-"
PARTIAL = ".partial"
GZIP = (".gz", ".tgz")


class _Hashed(io.RawIOBase):
    """What is read passes through a checksum."""

    def __init__(self, source: IO[bytes]) -> None:
        super().__init__()
        self._source = source
        self.hash = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        data = self._source.read(size)
        self.hash.update(data)
        return data


class Writer:
    """Members in order, then `finish`."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self._digest = Digest()

    def add(self, name: str, content: IO[bytes], size: int) -> None:
        """One member of exactly that size."""
        info = tarfile.TarInfo(name)
        info.size, info.mode = size, 0o600
        hashed = _Hashed(content)
        self._tar.addfile(info, hashed)
        self._digest.add(name, hashed.hash.hexdigest())

    def add_record(self, name: str, record: Mapping[str, Any]) -> None:
        """One member of JSON."""
        self._add_bytes(name, json.dumps(record, ensure_ascii=False).encode())

    def add_lines(self, name: str, records: Sequence[Mapping[str, Any]]) -> None:
        """One member of JSON lines."""
        self._add_bytes(name, b"".join(json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in records))

    def begin(self, manifest: Mapping[str, Any]) -> None:
        """The first member."""
        self.add_record(MANIFEST, manifest)

    def finish(self, counts: Mapping[str, Any]) -> None:
        """The last member, without which an export is refused as incomplete."""
        self.add_record(END, {**counts, "sha256": self._digest.value()})

    def _add_bytes(self, name: str, data: bytes) -> None:
        self.add(name, io.BytesIO(data), len(data))


@contextmanager
def writing(target: str) -> Iterator[Writer]:
    """A writer into a file, or to standard output for `-`. A file has its name only once it is whole and on the disk; until then, and
    after a failure, it is called `NAME.partial`. Raises `InvalidRequest` when the file exists.
    """
    if target == STDOUT:
        with tarfile.open(fileobj=sys.stdout.buffer, mode="w|", bufsize=PIECE, format=tarfile.PAX_FORMAT) as tar:
            yield Writer(tar)
        sys.stdout.buffer.flush()
        return
    path = Path(target)
    if path.exists():
        raise InvalidRequest(f"{target} exists; name another file, or remove it first")
    partial = path.with_name(path.name + PARTIAL)
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise InvalidRequest(f"{partial}: {error.strerror}") from error
    with os.fdopen(descriptor, "wb") as file:
        with tarfile.open(fileobj=file, mode="w|gz" if target.endswith(GZIP) else "w|", bufsize=PIECE, format=tarfile.PAX_FORMAT) as tar:
            yield Writer(tar)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)

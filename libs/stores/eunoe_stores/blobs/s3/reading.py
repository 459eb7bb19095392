"""Reading an object piece by piece, each with a request of its own: no connection is held while the reader does something else."""

from __future__ import annotations

import hashlib
import re
import time
from dataclasses import dataclass

from eunoe_contracts.errors import StoreUnavailable
from minio.error import MinioException, S3Error
from urllib3.exceptions import HTTPError, ProtocolError
from urllib3.exceptions import TimeoutError as Silence
from urllib3.response import BaseHTTPResponse

from eunoe_stores.blobs.s3.bucket import SHA256, Bucket
from eunoe_stores.blobs.s3.errors import mapped

PIECE_BYTES = 4 * 1024 * 1024
READ_BYTES = 256 * 1024
ATTEMPTS = 4
"""Requests for one piece. Each goes on where the one before was cut off."""
_RANGE = re.compile(r"bytes \d+-\d+/(\d+)\Z")
_WHOLE, _PARTIAL = 200, 206


@dataclass(frozen=True, slots=True)
class _Version:
    """What an answer says of the whole object."""

    total: int
    etag: str
    sha256: str


class Reading:
    """One object from its beginning to its end. Blocking methods. All pieces are of one version of the object."""

    def __init__(self, bucket: Bucket, key: str, *, timeout_s: float) -> None:
        self._bucket = bucket
        self._key = key
        self._timeout_s = timeout_s
        self._version: _Version | None = None
        self._offset = 0
        self._hash = hashlib.sha256()

    @property
    def etag(self) -> str:
        """Which version it is; empty before the first piece."""
        return self._version.etag if self._version is not None else ""

    def piece(self) -> bytes:
        """The next bytes, at most 4 MiB; empty at the end. Raises `BlobNotFound`, `StoreUnavailable`; never ends early without one."""
        found = bytearray()
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._go_on(found)
                break
            except HTTPError as error:
                if attempt == ATTEMPTS:
                    raise StoreUnavailable(f"the blob store cut its answer off ({type(error).__name__})") from None
        data = bytes(found)
        self._hash.update(data)
        self._offset += len(data)
        return data

    def check(self, sha256: str | None = None) -> None:
        """After the last piece. Raises `StoreUnavailable` when the checksum is not the one given, or the one that it was stored with."""
        known = sha256 or (self._version.sha256 if self._version is not None else "")
        if known and self._hash.hexdigest() != known.lower():
            raise StoreUnavailable("a stored blob does not have the checksum it was stored with")

    def _go_on(self, found: bytearray) -> None:
        """Read what is missing of the piece; what was read stays in `found` when it fails."""
        start, wanted = self._offset + len(found), PIECE_BYTES - len(found)
        if self._version is not None:
            wanted = min(wanted, self._version.total - start)
        if wanted <= 0:
            return
        response = self._asked(start, wanted)
        if response is None:
            self._version = _Version(0, "", "")
            return
        try:
            version = _told(response, start)
            if self._version is not None and version != self._version:
                raise StoreUnavailable("a blob was replaced while it was read")
            self._version = version
            self._receive(response, found, min(wanted, version.total - start))
            if response.status == _PARTIAL:
                response.drain_conn()  # nothing is left: the connection can be used again
        finally:
            response.close()
            response.release_conn()

    def _asked(self, start: int, wanted: int) -> BaseHTTPResponse | None:
        """The answer, its body not yet read. None for an empty object, of which there is no range."""
        headers: dict[str, str | list[str] | tuple[str]] = {}
        if self._version is not None and self._version.etag:
            headers["If-Match"] = f'"{self._version.etag}"'
        try:
            return self._bucket.client.get_object(self._bucket.name, self._key, offset=start, length=wanted, request_headers=headers)
        except S3Error as error:
            if error.code == "InvalidRange" and start == 0 and self._bucket.facts(self._key).size == 0:
                return None
            if error.code == "PreconditionFailed":
                raise StoreUnavailable("a blob was replaced while it was read") from None
            raise mapped(error) from None
        except (MinioException, HTTPError, OSError) as error:
            raise mapped(error) from None  # the client has tried again already

    def _receive(self, response: BaseHTTPResponse, found: bytearray, wanted: int) -> None:
        deadline = time.monotonic() + self._timeout_s
        while wanted > 0:
            # What has come, not all of it: a server that sends a byte now and then must not hold us for ever.
            data = response.read1(min(wanted, READ_BYTES))
            if not data:
                raise ProtocolError("the answer ended early")
            found += data
            wanted -= len(data)
            if wanted > 0 and time.monotonic() > deadline:
                raise Silence("too slow")


def _told(response: BaseHTTPResponse, start: int) -> _Version:
    etag, sha256 = response.headers.get("etag", "").strip('"'), response.headers.get(SHA256, "")
    if response.status == _PARTIAL and (found := _RANGE.match(response.headers.get("content-range", ""))):
        return _Version(int(found[1]), etag, sha256)
    length = response.headers.get("content-length", "")
    if response.status == _WHOLE and start == 0 and length.isdigit():
        return _Version(int(length), etag, sha256)  # a server without ranges, or a blob without content
    raise StoreUnavailable("the blob store did not say how long a blob is")

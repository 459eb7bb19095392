"""What is asked of one bucket. Blocking methods that raise errors of ours, to be called in threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from eunoe_contracts.errors import BlobNotFound, StoreUnavailable
from minio import Minio
from minio.commonconfig import REPLACE, CopySource
from minio.datatypes import Part, Upload
from minio.deleteobjects import DeleteObject
from minio.error import S3Error

from eunoe_stores.blobs.s3.errors import ABSENT, named_errors
from eunoe_stores.blobs.s3.writing import written

SHA256 = "x-amz-meta-sha256"
CONTENT_TYPE = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Listed:
    """One entry of a list: an object, or what several begin with."""

    key: str
    modified: datetime | None


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of an object without reading it. `sha256` is empty when it was not known as the object was written."""

    size: int
    sha256: str
    etag: str


class Bucket:
    """The objects of one bucket."""

    def __init__(self, client: Minio, name: str) -> None:
        self.client = client
        self.name = name

    def put(self, key: str, data: bytes, *, sha256: str = "") -> None:
        """Store a small object whole, or not at all; replaces."""
        headers: dict[str, str | list[str] | tuple[str]] = {"Content-Type": CONTENT_TYPE}
        if sha256:
            headers[SHA256] = sha256
        with named_errors():
            put = self.client._put_object  # noqa: SLF001 - the public method copies the data twice
            written(lambda: put(self.name, key, data, headers))

    def facts(self, key: str) -> Facts:
        """Raises `BlobNotFound`."""
        with named_errors():
            found = self.client.stat_object(self.name, key)
            return Facts(int(found.size or 0), (found.metadata or {}).get(SHA256, ""), found.etag or "")

    def is_there(self, key: str) -> bool:
        """Whether the object exists."""
        try:
            self.facts(key)
        except BlobNotFound:
            return False
        return True

    def copy(self, source: str, target: str, *, sha256: str, etag: str) -> None:
        """On the server, whatever the size. Raises `BlobNotFound`, `StoreUnavailable` when the source is another version than that."""
        origin = CopySource(self.name, source, match_etag=etag)
        with named_errors():
            written(lambda: self.client.copy_object(self.name, target, origin, metadata={"sha256": sha256}, metadata_directive=REPLACE))

    def remove(self, key: str) -> None:
        """Nothing when it is not there."""
        with named_errors():
            try:
                self.client.remove_object(self.name, key)
            except S3Error as error:
                if error.code not in ABSENT:
                    raise

    def remove_all(self, keys: Sequence[str]) -> None:
        """Up to 1,000 with one request. Raises `StoreUnavailable` when one could not be removed."""
        with named_errors():
            # The client deletes while its answer is read, and not before.
            failed = list(self.client.remove_objects(self.name, (DeleteObject(key) for key in keys)))
        if failed:
            raise StoreUnavailable(f"the blob store did not remove {len(failed)} blobs ({failed[0].code})")

    def listed(self, prefix: str, *, recursive: bool) -> list[Listed]:
        """Everything below a prefix, or what is directly below it, in order of names."""
        with named_errors():
            found = self.client.list_objects(self.name, prefix=prefix, recursive=recursive)
            return [Listed(str(each.object_name), each.last_modified) for each in found]

    def begin(self, key: str) -> str:
        """Begin an upload in parts; returns its id."""
        with named_errors():
            return self.client._create_multipart_upload(self.name, key, {"Content-Type": CONTENT_TYPE})  # noqa: SLF001

    def put_part(self, key: str, upload: str, number: int, data: bytes) -> Part:
        """One part. May be repeated."""
        with named_errors():
            return Part(number, self.client._upload_part(self.name, key, data, None, upload, number))  # noqa: SLF001

    def finish(self, key: str, upload: str, parts: Sequence[Part]) -> None:
        """Make the object of the parts."""
        with named_errors():
            complete = self.client._complete_multipart_upload  # noqa: SLF001
            written(lambda: complete(self.name, key, upload, list(parts)))

    def abort(self, key: str, upload: str) -> None:
        """Drop the parts. Nothing when the upload is not there."""
        with named_errors():
            try:
                self.client._abort_multipart_upload(self.name, key, upload)  # noqa: SLF001
            except S3Error as error:
                if error.code not in {"NoSuchUpload", *ABSENT}:
                    raise

    def uploads(self, prefix: str) -> Iterable[Upload]:
        """Uploads in parts that were neither finished nor aborted."""
        key_marker = upload_marker = None
        while True:
            with named_errors():
                found = self.client._list_multipart_uploads(  # noqa: SLF001
                    self.name, prefix=prefix, key_marker=key_marker, upload_id_marker=upload_marker
                )
            yield from found.uploads
            if not found.is_truncated:
                return
            key_marker, upload_marker = found.next_key_marker, found.next_upload_id_marker

"""Uploads that do not pass through us: the caller sends the file to the server itself, with a form that we signed, and then says so."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlunsplit

from minio.datatypes import PostPolicy

from eunoe_stores.blobs.port import StagedBlob
from eunoe_stores.blobs.s3.bucket import Bucket
from eunoe_stores.blobs.s3.errors import named_errors
from eunoe_stores.blobs.s3.reading import Reading
from eunoe_stores.blobs.s3.uploading import HEAD_BYTES


@dataclass(frozen=True, slots=True)
class UploadForm:
    """A form of type multipart/form-data: these fields first, then the file in a field `file`."""

    url: str
    fields: Mapping[str, str]


def signed_form(bucket: Bucket, key: str, *, limit: int, expires: datetime) -> UploadForm:
    """For this key only, and `limit` bytes at most, which a presigned PUT could not do."""
    policy = PostPolicy(bucket.name, expires)
    policy.add_equals_condition("key", key)
    policy.add_content_length_range_condition(0, limit)
    with named_errors():
        fields = bucket.client.presigned_post_policy(policy)
        url = bucket.client._base_url.build(method="POST", region=bucket.client._get_region(bucket.name), bucket_name=bucket.name)  # noqa: SLF001
    return UploadForm(urlunsplit(url), {"key": key, **fields})


def measured(bucket: Bucket, key: str, digest_key: str, upload_id: str, *, timeout_s: float) -> StagedBlob:
    """What `stage` would have said of these bytes, which are read once. Raises `BlobNotFound` when nothing was sent."""
    reading = Reading(bucket, key, timeout_s=timeout_s)
    digest, size, head = hashlib.sha256(), 0, b""
    while piece := reading.piece():
        digest.update(piece)
        size += len(piece)
        head += piece[: HEAD_BYTES - len(head)]
    # With the version that was read: until the form expires, other bytes may take their place.
    bucket.put(digest_key, f"{digest.hexdigest()} {reading.etag}".encode())
    return StagedBlob(upload_id, size, digest.hexdigest(), head)

"""Uploads that do not pass through us: the caller sends the file to the server itself, with a form that we signed, and then says so."""

from __future__ import annotations

import hashlib
from datetime import datetime
from urllib.parse import urlunsplit

from minio.datatypes import PostPolicy

from eunoe_stores.blobs.port import StagedBlob, UploadForm
from eunoe_stores.blobs.s3.bucket import Bucket
from eunoe_stores.blobs.s3.errors import named_errors
from eunoe_stores.blobs.s3.reading import Reading
from eunoe_stores.blobs.s3.uploading import HEAD_BYTES


def signed_form(bucket: Bucket, key: str, *, limit: int, expires: datetime, public_url: str = "") -> UploadForm:
    """For this key only, and `limit` bytes at most, which a presigned PUT could not do. The signature does not name the server, so
    callers may reach it at `public_url`.
    """
    policy = PostPolicy(bucket.name, expires)
    policy.add_equals_condition("key", key)
    policy.add_content_length_range_condition(0, limit)
    with named_errors():
        fields = bucket.client.presigned_post_policy(policy)
        url = bucket.client._base_url.build(method="POST", region=bucket.client._get_region(bucket.name), bucket_name=bucket.name)  # noqa: SLF001
    address = f"{public_url.rstrip('/')}{url.path}" if public_url else urlunsplit(url)
    return UploadForm(address, {"key": key, **fields})


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

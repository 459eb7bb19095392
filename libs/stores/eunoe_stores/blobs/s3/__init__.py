"""`BlobStore` on S3."""

from eunoe_stores.blobs.s3.config import S3Settings
from eunoe_stores.blobs.s3.opening import open_s3

__all__ = ["S3Settings", "open_s3"]

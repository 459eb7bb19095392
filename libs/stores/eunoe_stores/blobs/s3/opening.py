"""Opening the blob store: the bucket is looked at once, so that wrong settings are refused at the start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from eunoe_contracts.errors import ConfigurationError
from minio import Minio
from minio.error import S3Error

from eunoe_stores.blobs.s3.bucket import Bucket
from eunoe_stores.blobs.s3.config import S3Settings
from eunoe_stores.blobs.s3.connection import make_client
from eunoe_stores.blobs.s3.errors import REFUSED, named_errors
from eunoe_stores.blobs.s3.keys import Keys
from eunoe_stores.blobs.s3.store import S3BlobStore

MIB = 1024 * 1024
_MADE_BY_ANOTHER = frozenset({"BucketAlreadyOwnedByYou", "BucketAlreadyExists"})


@asynccontextmanager
async def open_s3(settings: S3Settings) -> AsyncIterator[S3BlobStore]:
    """Connect, find or make the bucket, yield, close. Raises `ConfigurationError`, `StoreUnavailable` when nobody answers."""
    if not settings.access_key.get_secret_value() or not settings.secret_key.get_secret_value():
        raise ConfigurationError("the blob store needs EUNOE_S3__ACCESS_KEY and EUNOE_S3__SECRET_KEY")
    try:
        client = make_client(settings)
    except ValueError:
        raise ConfigurationError("EUNOE_S3__ENDPOINT is no host and port, or names a scheme or path") from None
    await asyncio.to_thread(_find_bucket, client, settings)
    store = S3BlobStore(
        Bucket(client, settings.bucket),
        Keys(settings.prefix),
        threads=settings.pool_size,
        part_size=settings.part_size_mib * MIB,
        transfer_timeout_s=settings.transfer_timeout_s,
        public_url=settings.public_url,
    )
    try:
        yield store
    finally:
        await store.close()
        client._http.clear()  # noqa: SLF001 - the pool is ours, the client keeps it


def _find_bucket(client: Minio, settings: S3Settings) -> None:
    with named_errors():
        try:
            if client.bucket_exists(settings.bucket):
                return
            if not settings.create_bucket:
                raise ConfigurationError(f"there is no bucket {settings.bucket}; make it, or set EUNOE_S3__CREATE_BUCKET")
            client.make_bucket(settings.bucket, location=settings.region)
        except ValueError:
            raise ConfigurationError("EUNOE_S3__BUCKET is no name for a bucket") from None
        except S3Error as error:
            if error.code in REFUSED:
                raise ConfigurationError(f"the blob store refuses our keys, or their use of this bucket ({error.code})") from None
            if error.code not in _MADE_BY_ANOTHER:
                raise

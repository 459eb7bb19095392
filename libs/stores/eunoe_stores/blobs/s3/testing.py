"""A prefix of its own for a test, in a bucket that others use too."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import uuid4

from eunoe_stores.blobs.s3.config import S3Settings
from eunoe_stores.blobs.s3.opening import open_s3
from eunoe_stores.blobs.s3.store import S3BlobStore

PREFIX = "EUNOE_S3__"


def settings_of(environment: Mapping[str, str]) -> S3Settings:
    """Settings from variables that are not set in this process."""
    given = {name.removeprefix(PREFIX).lower(): value for name, value in environment.items() if name.startswith(PREFIX)}
    return S3Settings.model_validate(given)


@asynccontextmanager
async def open_fresh_s3(settings: S3Settings) -> AsyncIterator[S3BlobStore]:
    """An empty store under a prefix of its own, whose objects go at the end."""
    prefix = f"test-{uuid4().hex}/"
    async with open_s3(settings.model_copy(update={"prefix": prefix})) as store:
        try:
            yield store
        finally:
            await store.discard_stale(older_than=datetime.max.replace(tzinfo=UTC))
            for tenant in await store.tenants():
                for document, generation in await store.documents(tenant):
                    await store.delete(tenant, document, through_generation=generation, from_generation=generation)

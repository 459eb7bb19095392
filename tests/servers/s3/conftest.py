from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest
from eunoe_stores.blobs.s3 import S3Settings
from eunoe_stores.blobs.s3.store import S3BlobStore
from eunoe_stores.blobs.s3.testing import open_fresh_s3, settings_of

if TYPE_CHECKING:
    from servers.fixtures import Servers
    from servers.s3 import S3


@pytest.fixture
def server(servers: Servers) -> S3:
    server: S3 = servers["s3"]  # type: ignore[assignment]  # by its name
    return server


@pytest.fixture
def settings(server: S3) -> S3Settings:
    """Small parts and short limits, so that a test meets them soon."""
    quick = {"part_size_mib": 5, "connect_timeout_s": 1.0, "read_timeout_s": 1.0, "transfer_timeout_s": 2.0}
    return settings_of(server.settings()).model_copy(update=quick)


@pytest.fixture
async def store(settings: S3Settings) -> AsyncIterator[S3BlobStore]:
    async with open_fresh_s3(settings) as store:
        yield store

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from servers.cluster import Cluster
from servers.fixtures import TOKEN


@pytest.fixture
def http(cluster: Cluster) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=cluster.url, timeout=60, headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        yield client

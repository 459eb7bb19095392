from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from eunoe_standalone.testing import ServerProcess, serving
from servers.cluster import Cluster
from servers.door import Door
from servers.fixtures import TOKEN


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with serving(tmp_path_factory.mktemp("server") / "data") as running:
        yield running


@pytest.fixture(scope="session", params=["one", pytest.param("six", marks=[pytest.mark.servers, pytest.mark.timeout(300)])])
def door(request: pytest.FixtureRequest) -> Door:
    """The one process, and the six on real servers: what a test sees through the doors is the same."""
    if request.param == "six":
        cluster: Cluster = request.getfixturevalue("cluster")
        return Door(cluster.url, cluster.grpc, TOKEN, [each.log for each in cluster.processes.values()])
    server: ServerProcess = request.getfixturevalue("server")
    return Door(server.url, server.running.grpc, "", [server.log])


@pytest.fixture
def http(door: Door) -> Iterator[httpx.Client]:
    with door.client() as client:
        yield client

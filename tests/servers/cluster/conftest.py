from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from driving import client
from servers.cluster import Cluster, ServiceProcess
from servers.fixtures import Servers


@pytest.fixture
def http(cluster: Cluster) -> Iterator[httpx.Client]:
    with client(cluster.url) as made:
        yield made


@pytest.fixture
def everything(servers: Servers, cluster: Cluster) -> Iterator[None]:
    """What a failed test left killed is started for the next one."""
    yield
    with ExitStack() as stack:
        for each in (*cluster.processes.values(), *(servers[name] for name in ("kafka", "postgres", "neo4j", "weaviate", "s3"))):
            if each.process is None or each.process.poll() is not None:
                stack.callback(each.start)


@pytest.fixture(scope="session")
def strict(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """One more search process, which refuses answers that something is missing from."""
    settings = {**cluster.settings, "EUNOE_SEARCH__FAIL_CLOSED": "true"}
    process = ServiceProcess(Path(tmp_path_factory.mktemp("strict")), "search", settings, replica=9)
    try:
        process.start()
        yield process
    finally:
        process.stop()

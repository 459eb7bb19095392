"""A producer that is much quicker than the consumers is told to wait, and nothing fills up meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import httpx
import psutil
import pytest
from driving import client, ended, eventually
from eunoe.v1 import ingest_pb2, ingest_pb2_grpc
from evidence import check_sinks
from servers.cluster import Cluster, ServiceProcess
from servers.fixtures import TOKEN, Servers
from servers.ports import HOST

pytestmark = [pytest.mark.servers, pytest.mark.timeout(1500), pytest.mark.usefixtures("everything")]
LIMIT = 40
CALLERS = 8
FLOOD = 300
MIB = 1024 * 1024


@pytest.fixture
def door(narrow: ServiceProcess) -> Iterator[httpx.Client]:
    with client(f"http://{HOST}:{narrow.http}") as made:
        yield made


@pytest.fixture
def narrow(cluster: Cluster, tmp_path: Path) -> Iterator[ServiceProcess]:
    """A second gateway, which takes in little."""
    process = ServiceProcess(tmp_path, "gateway", {**cluster.settings, "EUNOE_GATEWAY__QUEUE_LIMIT": str(LIMIT)}, replica=9)
    try:
        process.start()
        yield process
    finally:
        process.stop()


def test_beyond_the_backlog_callers_wait_and_memory_stays(
    http: httpx.Client, cluster: Cluster, servers: Servers, narrow: ServiceProcess, door: httpx.Client
) -> None:
    count = "SELECT count(*) FROM documents WHERE is_open"
    postgres: Any = servers["postgres"]
    eventually(lambda: postgres.sql(count) == [(0,)], 300, lambda: postgres.sql(count))  # of earlier tests
    cluster["extractor"].kill()  # nobody consumes: the producer is quicker by any factor
    container = f"c{uuid4().hex}"

    def offered(number: int, size: int = 0) -> httpx.Response:
        body = {"content": f"Box number{number} is blue. " + "x " * (size // 2), "container": container, "name": f"{number}.txt"}
        return door.post("/v1/documents", json=body)

    with ThreadPoolExecutor(CALLERS) as callers:
        first = list(callers.map(offered, range(2 * LIMIT)))
        assert {each.status_code for each in first} == {202, 429}
        accepted = {number: each.json()["id"] for number, each in enumerate(first) if each.status_code == 202}
        assert len(accepted) == LIMIT
        before = psutil.Process(narrow.pid).memory_info().rss
        flood = list(callers.map(lambda number: offered(number, MIB), range(1000, 1000 + FLOOD)))
        grown = psutil.Process(narrow.pid).memory_info().rss - before
    for each in (*(each for each in first if each.status_code != 202), *flood):
        assert (each.status_code, each.json()["code"]) == (429, "queue_full")
        assert 1 <= int(each.headers["retry-after"]) <= 60
    print(f"{FLOOD} MiB refused, the gateway grew by {grown / MIB:.0f} MiB")  # noqa: T201
    assert grown < FLOOD * MIB / 3
    request = ingest_pb2.IngestRequest(info=ingest_pb2.ContentInfo(container=container), text="One more.")
    with grpc.insecure_channel(f"{HOST}:{narrow.grpc}") as channel:
        ingest = ingest_pb2_grpc.IngestServiceStub(channel).Ingest
        with pytest.raises(grpc.RpcError) as refused:
            ingest(request, metadata=(("authorization", f"Bearer {TOKEN}"),), timeout=30)
    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED

    # Whoever was refused asks again; now there are consumers, slower than the callers.
    cluster["extractor"].start()
    waiting = [number for number in range(2 * LIMIT) if number not in accepted]

    def taken_in() -> bool:
        for number in [*waiting]:
            answer = offered(number)
            if answer.status_code == 202:
                accepted[number] = answer.json()["id"]
                waiting.remove(number)
            else:
                assert answer.status_code == 429
                return False
        return not waiting

    eventually(taken_in, 120, lambda: waiting)
    assert {each["status"] for each in ended(http, list(accepted.values()))} == {"done"}
    assert http.post("/v1/documents/list", json={"container": container}).json()["total"] == 2 * LIMIT
    check_sinks(servers, container, list(accepted.values()))

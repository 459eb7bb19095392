"""The servers are killed under the six processes, one after the other: what docs/how-to/distributed.md promises under "When something is
away", and that nothing accepted is lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from uuid import uuid4

import httpx
import pytest
from driving import Wave, ended, eventually, post, search
from evidence import check_wave
from servers.all import SERVERS
from servers.cluster import Cluster, ServiceProcess
from servers.fixtures import Servers
from strictness import refusal

pytestmark = [pytest.mark.servers, pytest.mark.timeout(1500), pytest.mark.usefixtures("everything")]
STORES = {"kafka": "log", "postgres": "catalogue", "neo4j": "graph", "weaviate": "vector index", "s3": "blobs"}
QUESTION = "where does the lighthouse stand"
REFUSED = (503, "store_unavailable")


def outcome(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json().get("code", "")


class Asking:
    """What a client sees while a server is away."""

    def __init__(self, http: httpx.Client, strict: ServiceProcess, container: str) -> None:
        self.http = http
        self.strict = strict
        self.container = container

    def accepting(self) -> tuple[int, str]:
        body = {"content": f"Beside the beacon, {uuid4().hex}.", "container": f"{self.container}.beside"}
        return outcome(self.http.post("/v1/documents", json=body))

    def searching(self) -> tuple[int, str]:
        return outcome(self.http.post("/v1/search", json={"query": QUESTION, "container": self.container}))

    def degraded(self, arms: Collection[str]) -> None:
        """Answers name these arms, and no other one once the machine is quick enough for their time-out."""

        def named() -> set[str]:
            answer = search(self.http, QUESTION, self.container)
            assert answer["results"], "the beacon is not found"
            assert set(answer["degraded"]) >= set(arms)
            return set(answer["degraded"])

        eventually(lambda: named() == set(arms), 90, named)

    def strictly(self) -> str:
        return refusal(self.strict, QUESTION, self.container)


def without_kafka(asking: Asking) -> None:
    assert asking.accepting() == (202, "")
    asking.degraded([])
    eventually(lambda: asking.strictly() == "", 90, asking.strictly)


def without_postgres(asking: Asking) -> None:
    assert asking.accepting() == REFUSED
    assert asking.searching() == REFUSED


def without_neo4j(asking: Asking) -> None:
    asking.degraded(["graph"])
    assert asking.strictly() == "store_unavailable"
    assert asking.accepting() == (202, "")


def without_weaviate(asking: Asking) -> None:
    assert asking.searching() == REFUSED
    assert asking.accepting() == (202, "")


def without_s3(asking: Asking) -> None:
    assert asking.accepting() == REFUSED
    asking.degraded([])


WITHOUT: Mapping[str, Callable[[Asking], None]] = {
    "kafka": without_kafka,
    "postgres": without_postgres,
    "neo4j": without_neo4j,
    "weaviate": without_weaviate,
    "s3": without_s3,
}


def not_ready(http: httpx.Client) -> set[str]:
    parts = http.get("/ready").json()["parts"]
    return {name for name, each in parts.items() if name in STORES.values() and not each["ok"]}


def test_killed_servers_lose_nothing(http: httpx.Client, cluster: Cluster, servers: Servers, strict: ServiceProcess) -> None:
    """kill -9 of each in turn while documents are accepted and processed."""
    container = f"c{uuid4().hex}"
    beacon = f"{container}.beacon"
    assert ended(http, [post(http, "The lighthouse stands on the cliff.", beacon, name="beacon.txt")])[0]["status"] == "done"
    wave = Wave(cluster.url, container)
    began = time.monotonic()
    with wave.rolling():
        for name in SERVERS:
            wave.more(6)
            servers[name].kill()
            try:
                WITHOUT[name](Asking(http, strict, beacon))
                # On a crowded machine the probes of others may be late too, and are named then.
                eventually(lambda name=name: STORES[name] in not_ready(http), 30, lambda name=name: (name, http.get("/ready").text))
            finally:
                servers[name].start()
        wave.more(6, 120)
    print(f"{wave.count} documents in {time.monotonic() - began:.0f} s, repeated calls: {dict(wave.refusals)}")  # noqa: T201
    check_wave(http, cluster, servers, wave)

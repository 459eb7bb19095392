"""Clients of a running server: posts of short texts over either door, searches, and what the server counts of itself."""

from __future__ import annotations

import http.client
import json
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal

import grpc
from eunoe.v1 import ingest_pb2, ingest_pb2_grpc, search_pb2, search_pb2_grpc
from eunoe_standalone import rendezvous
from eunoe_standalone.rendezvous import RunningServer
from filling import turn_bodies
from google.protobuf.struct_pb2 import Struct

Door = Literal["grpc", "http"]
DEADLINE_S = 600.0
LOOK_EVERY_S = 0.2
BURST = 100


@dataclass(slots=True)
class Posted:
    """Seconds of each accepting call, the ids given, and seconds from the first call until all was searchable."""

    accepts: list[float] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    total_s: float = 0.0


def counted(server: RunningServer, name: str, **labels: str) -> float:
    """The sum of a metric's samples that have these labels."""
    link = http.client.HTTPConnection(server.http)
    link.request("GET", "/metrics", headers={"Authorization": f"Bearer {server.secret}"})
    text = link.getresponse().read().decode()
    link.close()
    wanted = [f'{key}="{value}"' for key, value in labels.items()]
    lines = [line for line in text.splitlines() if re.match(rf"eunoe_{name}[ {{]", line) and all(each in line for each in wanted)]
    return sum(float(line.rpartition(" ")[2]) for line in lines)


def ingest(server: RunningServer, bodies: Sequence[dict[str, Any]], *, door: Door, parallel: int = 8, wait: bool = True) -> Posted:
    """Post all of them from so many threads; waits until they are searchable."""
    posted = Posted()
    before = counted(server, "documents_ended_total", status="done")
    waiting: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    for each in bodies:
        waiting.put(each)
    threads = [threading.Thread(target=_client, args=(_caller(server, door), waiting, posted)) for _ in range(parallel)]
    started = time.perf_counter()
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    while wait and counted(server, "documents_ended_total", status="done") < before + len(bodies):
        if time.perf_counter() - started > DEADLINE_S:
            raise SystemExit("the documents did not become searchable in time")
        time.sleep(LOOK_EVERY_S)
    posted.total_s = time.perf_counter() - started
    if len(posted.accepts) != len(bodies):
        raise SystemExit(f"{len(bodies) - len(posted.accepts)} posts were not accepted")
    return posted


def _client(call: Callable[[dict[str, Any]], str], waiting: queue.SimpleQueue[dict[str, Any]], posted: Posted) -> None:
    while True:
        try:
            body = waiting.get_nowait()
        except queue.Empty:
            return
        started = time.perf_counter()
        identity = call(body)
        posted.ids.append(identity)
        posted.accepts.append(time.perf_counter() - started)


def _caller(server: RunningServer, door: Door) -> Callable[[dict[str, Any]], str]:
    secret = server.secret
    if door == "http":
        link = http.client.HTTPConnection(server.http)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {secret}"}

        def post(body: dict[str, Any]) -> str:
            link.request("POST", "/v1/documents", json.dumps(body), headers)
            answer = link.getresponse()
            given = json.loads(answer.read())
            if answer.status != http.client.ACCEPTED:
                raise SystemExit(f"a post was answered with {answer.status}")
            return str(given["id"])

        return post
    stub = ingest_pb2_grpc.IngestServiceStub(grpc.insecure_channel(server.grpc))

    def call(body: dict[str, Any]) -> str:
        metadata = Struct()
        metadata.update(body.get("metadata", {}))
        info = ingest_pb2.ContentInfo(container=body["container"], content_type=body["content_type"], metadata=metadata)
        request = ingest_pb2.IngestRequest(info=info, text=body["content"])
        answer: ingest_pb2.IngestResponse = stub.Ingest(request, metadata=(("authorization", f"Bearer {secret}"),))
        return answer.acceptance.id

    return call


class Searches:
    """One client that searches over gRPC, one query after the other."""

    def __init__(self, server: RunningServer) -> None:
        self._stub = search_pb2_grpc.SearchServiceStub(grpc.insecure_channel(server.grpc))
        self._metadata = (("authorization", f"Bearer {server.secret}"),)

    def times(self, queries: Sequence[str]) -> list[float]:
        """Milliseconds of each search."""
        found = []
        for each in queries:
            started = time.perf_counter()
            self._stub.Search(search_pb2.SearchRequest(query=each, limit=10), metadata=self._metadata)
            found.append(1000 * (time.perf_counter() - started))
        return found


@contextmanager
def full_ingest(data_dir: Path) -> Iterator[None]:
    """Eight clients in a process of their own post without a pause while the context lives."""
    command = [sys.executable, str(Path(__file__)), str(data_dir)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as posting:
        if posting.stdin is None or posting.stdout is None or not posting.stdout.readline():
            raise SystemExit("the clients did not start")
        try:
            yield
        finally:
            posting.stdin.close()


def keep_posting(data_dir: Path) -> None:
    """Post until the standard input ends; says so once the first texts are posted."""
    server = rendezvous.find(data_dir)
    if server is None:
        raise SystemExit("no server")
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    for seed in count(100):
        ingest(server, turn_bodies(BURST, seed=seed), door="grpc", wait=False)
        if seed == 100:  # noqa: PLR2004 - the first
            print("posting", flush=True)
        if ended.is_set():
            return


if __name__ == "__main__":
    keep_posting(Path(sys.argv[1]))

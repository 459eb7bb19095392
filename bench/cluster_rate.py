"""How fast are the six processes on the real servers, and what does a document cost in each?

Texts of 480 tokens, eight clients over HTTP. Two parts, each on servers of its own: first with a stand-in for the model that takes a
fixed time for each text (`standin_embedder.py`), where the ratio of the whole to the stand-in's own rate says whether anything else
limits; then with the real model, where the processor time per document is counted in every process and every server. Accept times
are those of the first part; the clients pause so that they post little more than the stand-in's rate.

    .venv/bin/python bench/cluster_rate.py [--latency 0.25] [--documents 200] [--quick] [--json]
"""

from __future__ import annotations

import queue
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from filling import turn_bodies
from measure import Report, options, percentile
from on_servers import OnServers, on_servers, until

SERVICES = ("embedder", "search", "extractor", "llm-extractor", "graph", "gateway")
TURNS = 12
"""Of some forty tokens each."""
CLIENTS = 8
LIMIT_S = 1200.0
WARM = 10


def texts(count: int, *, seed: int) -> list[dict[str, object]]:
    """Bodies of posts."""
    turns = [str(each["content"]) for each in turn_bodies(count * TURNS, seed=seed)]
    return [
        {"content": " ".join(turns[at : at + TURNS]), "container": "bench", "content_type": "text"} for at in range(0, len(turns), TURNS)
    ]


def posted(running: OnServers, bodies: Sequence[dict[str, object]], *, every_s: float) -> tuple[list[str], list[float]]:
    """Ids, and milliseconds of each accepting call; one begins every `every_s` seconds while clients are free."""
    waiting: queue.SimpleQueue[dict[str, object] | None] = queue.SimpleQueue()
    ids: list[str] = []
    times: list[float] = []

    def client() -> None:
        with running.http() as http:
            while (body := waiting.get()) is not None:
                began = time.perf_counter()
                answer = http.post("/v1/documents", json=body)
                answer.raise_for_status()
                times.append(1000 * (time.perf_counter() - began))
                ids.append(str(answer.json()["id"]))

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for each in threads:
        each.start()
    for body in bodies:
        waiting.put(body)
        time.sleep(every_s)
    for _ in threads:
        waiting.put(None)
    for each in threads:
        each.join()
    return ids, times


def whole_run(running: OnServers, bodies: Sequence[dict[str, object]], *, every_s: float) -> tuple[float, list[float]]:
    """Seconds from the first post until the last document is done, and the accept times."""
    started = time.perf_counter()
    ids, times = posted(running, bodies, every_s=every_s)
    with running.http() as http:
        open_ones = set(ids)

        def ended() -> bool:
            for each in sorted(open_ones):
                if http.get(f"/v1/documents/{each}").json()["status"] not in {"done", "failed"}:
                    return False
                open_ones.discard(each)
            return True

        until(ended, LIMIT_S, "all documents")
        took = time.perf_counter() - started
        statuses = {http.get(f"/v1/documents/{each}").json()["status"] for each in ids}
    if len(ids) != len(bodies) or statuses != {"done"}:
        raise SystemExit(f"{len(ids)} of {len(bodies)} accepted, ends {statuses}")
    return took, times


def main() -> None:
    """Measure and print."""
    parser = options(__doc__, rounds=1)
    parser.add_argument("--latency", type=float, default=0.25, help="seconds of the stand-in for each text")
    parser.add_argument("--documents", type=int, default=200)
    given = parser.parse_args()
    count = 20 if given.quick else given.documents
    report = Report(f"Six processes on the real servers, {count} texts of 480 tokens, {CLIENTS} clients over HTTP")
    settings = {"EUNOE_KAFKA__TOPIC_PREFIX": "rate.", "EUNOE_EMBEDDER__CONCURRENCY": "4"}
    with (
        tempfile.TemporaryDirectory() as folder,
        on_servers(
            {**settings, "STANDIN_LATENCY_S": str(given.latency), "STANDIN_COUNT": f"{folder}/texts"},
            modules={"embedder": "standin_embedder"},
            services=SERVICES,
        ) as running,
    ):
        counted = Path(folder) / "texts"
        whole_run(running, texts(WARM, seed=1), every_s=0)
        before = int(counted.read_text(encoding="ascii"))
        took, times = whole_run(running, texts(count, seed=2), every_s=given.latency)
        computed = int(counted.read_text(encoding="ascii")) - before
        report.add("documents/s with the stand-in", count / took)
        report.add("texts a document that the stand-in got", computed / count)
        report.add("to the stand-in's own rate", computed * given.latency / took)
        report.add("accept p50", percentile(times, 0.5), "ms")
        report.add("accept p99", percentile(times, 0.99), "ms")
    with on_servers(settings, modules={}, services=SERVICES) as running:
        whole_run(running, texts(WARM, seed=1), every_s=0)
        before_s = running.cpu_s()
        took, _ = whole_run(running, texts(count, seed=2), every_s=0)
        spent = {name: 1000 * (at - before_s[name]) / count for name, at in running.cpu_s().items()}
        report.add("documents/s with the real model", count / took)
        for name, each in spent.items():
            report.add(f"processor time of {name}", each, "ms a document")
        report.add("processor time of all", sum(spent.values()), "ms a document")
    report.print(as_json=given.json)


if __name__ == "__main__":
    main()

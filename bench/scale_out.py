"""Do more embedder processes embed more? 1, 2, 4 and 8 of them on 16 partitions, and what happens when half of them go.

The real servers, all six services; only the model is a stand-in that takes a fixed time for each text (`standin_embedder.py`), so that
its rate limits and not the two cores. All documents are posted and extracted first; then embedders are started, and between the moment
when all of them work and the end of a window the documents of each are counted. The ratio is to the stand-ins' own rate times their
number. At the end half of the embedders are told to stop, and every document must end as `done`, none twice.

    .venv/bin/python bench/scale_out.py [--latency 0.5] [--window 25] [--quick] [--json]
"""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from filling import turn_bodies
from measure import Report, options
from on_servers import OnServers, ServiceProcess, handled, on_servers, until

PARTITIONS = 16
STEPS = (1, 2, 4, 8)
MARGIN = 1.9
"""Documents per document that the windows need: keys fall on partitions unevenly, and time passes while members join."""
STAGE = "embed"
LIMIT_S = 900.0


def post_all(running: OnServers, count: int) -> list[str]:
    """Their ids."""
    with running.http() as http, ThreadPoolExecutor(8) as threads:

        def post(body: dict[str, object]) -> str:
            answer = http.post("/v1/documents", json=body)
            answer.raise_for_status()
            return str(answer.json()["id"])

        return list(threads.map(post, turn_bodies(count)))


def ends(running: OnServers, ids: list[str]) -> Counter[str]:
    """How many documents have which status."""
    with running.http() as http, ThreadPoolExecutor(4) as threads:
        return Counter(threads.map(lambda each: str(http.get(f"/v1/documents/{each}").json()["status"]), ids))


def all_at_work(embedders: list[ServiceProcess]) -> None:
    """Each has embedded something since."""
    before = [handled(each, STAGE) for each in embedders]
    until(lambda: all(handled(each, STAGE) > at for each, at in zip(embedders, before, strict=True)), LIMIT_S, "all embedders at work")


def main() -> None:
    """Measure and print."""
    parser = options(__doc__, rounds=1)
    parser.add_argument("--latency", type=float, default=0.5, help="seconds of the stand-in for each text")
    parser.add_argument("--window", type=float, default=25.0, help="seconds that each step is measured")
    given = parser.parse_args()
    steps, window = ((1, 2), 8.0) if given.quick else (STEPS, given.window)
    count = int(MARGIN * sum(steps) * (window + 10) / given.latency)
    settings = {
        "EUNOE_KAFKA__PARTITIONS": str(PARTITIONS),
        "EUNOE_KAFKA__TOPIC_PREFIX": "scale.",
        "EUNOE_EMBEDDER__CONCURRENCY": "1",
        "STANDIN_LATENCY_S": str(given.latency),
    }
    report = Report(f"Embedders on {PARTITIONS} partitions, {given.latency} s a text, {count} documents, windows of {window:.0f} s")
    others = ("search", "extractor", "llm-extractor", "graph", "gateway")
    with on_servers(settings, modules={"embedder": "standin_embedder"}, services=others) as running:
        ids = post_all(running, count)
        extractor, graph = running.cluster["extractor"], running.cluster["graph"]
        until(lambda: handled(extractor, "extract") >= count, LIMIT_S, "extraction")
        until(lambda: handled(graph, "structure") >= count, LIMIT_S, "graph")
        embedders: list[ServiceProcess] = []
        for number in steps:
            embedders += [running.cluster.add("embedder") for _ in range(number - len(embedders))]
            all_at_work(embedders)
            first, started = sum(handled(each, STAGE) for each in embedders), time.perf_counter()
            time.sleep(window)
            rate = (sum(handled(each, STAGE) for each in embedders) - first) / (time.perf_counter() - started)
            report.add(f"{number} embedders", rate, "documents/s")
            report.add(f"{number} embedders, to {number} times the stand-in's own rate", rate * given.latency / number)
        for each in embedders[len(embedders) // 2 :]:
            each.stop()
        until(lambda: ends(running, ids[-20:])["done"] == len(ids[-20:]), LIMIT_S, "the last documents")
        until(lambda: ends(running, ids)["done"] == count, LIMIT_S, "all documents")
        report.add("documents done after half of them were stopped, of those posted", ends(running, ids)["done"] / count)
    report.print(as_json=given.json)


if __name__ == "__main__":
    main()

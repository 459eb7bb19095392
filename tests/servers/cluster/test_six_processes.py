"""A document's life through six processes on the real servers, also while they are killed."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import httpx
import pytest
from servers.cluster import MODULES, Cluster

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]
ENDS = {"done", "failed", "cancelled"}
WORDS = ["harbour", "lantern", "copper", "meadow", "engine", "violin", "glacier", "pepper", "saddle", "ticket", "anchor", "window"]


def eventually(condition: Callable[[], bool], limit_s: float, what: Callable[[], object] = lambda: "") -> None:
    deadline, tick = time.monotonic() + limit_s, threading.Event()
    while not condition():
        assert time.monotonic() < deadline, f"not in time: {what()}"
        tick.wait(0.1)


def post(http: httpx.Client, content: str, container: str, **fields: Any) -> str:
    answer = http.post("/v1/documents", json={"content": content, "container": container, **fields})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def of(http: httpx.Client, identity: str) -> dict[str, Any]:
    answer = http.get(f"/v1/documents/{identity}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def ended(http: httpx.Client, ids: Sequence[str], limit_s: float = 120) -> list[dict[str, Any]]:
    open_ones = set(ids)

    def all_ended() -> bool:
        open_ones.difference_update([each for each in open_ones if of(http, each)["status"] in ENDS])
        return not open_ones

    eventually(all_ended, limit_s, lambda: [of(http, each) for each in sorted(open_ones)[:3]])
    return [of(http, each) for each in ids]


def hits(http: httpx.Client, query: str, container: str) -> list[dict[str, Any]]:
    answer = http.post("/v1/search", json={"query": query, "container": container})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def test_a_document_is_found_and_erased(http: httpx.Client) -> None:
    container = f"c{uuid4().hex}"
    text = "The kettle sings at noon. My favourite colour is green."
    identity = post(http, text, container, name="kettle.txt")
    assert ended(http, [identity])[0]["status"] == "done"
    assert identity in {each["document_id"] for each in hits(http, "when does the kettle sing", container)}
    assert post(http, text, container, name="kettle.txt") == identity
    assert http.delete(f"/v1/documents/{identity}").status_code in {200, 202}
    assert hits(http, "when does the kettle sing", container) == []
    assert http.get(f"/v1/documents/{identity}").status_code == 404


def test_every_part_is_ready(cluster: Cluster) -> None:
    for service in MODULES:
        assert cluster[service].get("/ready")[0] == 200, cluster[service].parts()


@pytest.mark.parametrize("service", [each for each in MODULES if each != "gateway"])
def test_a_killed_service_loses_nothing(http: httpx.Client, cluster: Cluster, service: str) -> None:
    """kill -9 in the middle of work: after its return every acknowledged document ends once, poison in the dead letters."""
    draw, container = random.Random(service), f"c{uuid4().hex}"
    texts = [f"Report {n} of {service}: {' '.join(draw.sample(WORDS, 6))} number{n}." for n in range(12)]
    ids = [post(http, text, container, name=f"r{n}.txt") for n, text in enumerate(texts)]
    poison = post(http, "<html><body><script>1</script></body></html>", container, content_type="html", name="empty.html")
    cluster[service].kill()
    ids += [post(http, f"Late {text}", container, name=f"late{n}.txt") for n, text in enumerate(texts)]
    cluster[service].start()
    assert {each["status"] for each in ended(http, ids)} == {"done"}
    assert ended(http, [poison])[0]["error_code"] == "empty_extraction"
    assert http.post("/v1/documents/list", json={"container": container}).json()["total"] == len(ids) + 1
    letters = http.get("/v1/dead-letters").json()["dead_letters"]
    assert {each["code"] for each in letters} == {"empty_extraction"}
    assert sum(each["document_id"] == poison for each in letters) == 1
    found = hits(http, "report number7", container)
    assert ids[7] in [each["document_id"] for each in found]
    assert len({(each["document_id"], each["content"]) for each in found}) == len(found), "a passage is there twice"

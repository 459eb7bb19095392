"""Six processes on five servers give the answers of the one process: the same documents, the same queries, the same measure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from driving import eventually
from eunoe_standalone.testing import serving
from mixed_documents import Content, corpus, queries
from servers.cluster import Cluster
from servers.fixtures import tenant_token

pytestmark = [pytest.mark.servers, pytest.mark.timeout(1500)]
MODES = ("hybrid", "keyword", "vector")
SAME_OF_TEN, SAME_WORDS_OF_TEN, MOST_DIFFERENCE = 9.0, 9.9, 0.015
SET = Path(__file__).resolve().parents[2] / "integration" / "retrieval_set"
MEASURES = ("ndcg_at_10", "recall_at_5", "recall_at_10")
EUNOE = str(Path(sys.executable).parent / "eunoe")
Hit = tuple[str, str]


def as_tenant(url: str, token: str) -> httpx.Client:
    """A client of the HTTP door."""
    return httpx.Client(base_url=url, timeout=60, headers={"Authorization": f"Bearer {token}"})


def send(http: httpx.Client, documents: Sequence[Content]) -> None:
    """Four at a time, the turns of a session in their order; return when all are done."""
    together: dict[object, list[Content]] = {}
    for each in documents:
        together.setdefault(each.metadata.get("session", each.name), []).append(each)
    with ThreadPoolExecutor(4) as callers:
        list(callers.map(lambda turns: [post(http, each) for each in turns], together.values()))

    def done() -> int:
        return int(http.post("/v1/documents/list", json={"status": "done", "limit": 1}).json()["total"])

    eventually(lambda: done() == len(documents), 900, lambda: http.post("/v1/documents/list", json={"status": "failed"}).text)


def post(http: httpx.Client, each: Content) -> None:
    """A file with what is told about it."""
    form = {"container": each.container, "custom_id": each.name, "metadata": json.dumps(each.metadata), "tags": list(each.tags)}
    answer = http.post("/v1/documents/upload", files={"file": (each.name, each.data)}, data=form)
    assert answer.status_code == 202, answer.text


def stats(http: httpx.Client) -> dict[str, Any]:
    """Counts of everything that the tenant has, but of `next`: a turn that comes late leaves a lighter edge past it, so their number
    tells in which order turns were drawn. Which turn follows is what the hybrid answers show.
    """
    answer = http.get("/v1/stats")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    drawn = found["relationships"]
    drawn["total"] -= drawn["by_type"].pop("next")
    return found


def answers(http: httpx.Client) -> dict[str, list[list[Hit]]]:
    """What each query finds, by mode: all arms with priors and hops, words only, vectors only."""
    found: dict[str, list[list[Hit]]] = {mode: [] for mode in MODES}
    for mode in MODES:
        for each in queries():
            found[mode].append([hit(found) for found in whole_answer(http, {**each, "mode": mode})["results"]])
    return found


def whole_answer(http: httpx.Client, question: Mapping[str, object]) -> dict[str, Any]:
    """With every arm: on a slow machine one may be later than an answer waits for it."""
    given: dict[str, Any] = {}

    def is_whole() -> bool:
        given.update(http.post("/v1/search", json=question).json())
        return given["degraded"] == []

    eventually(is_whole, 60, lambda: given["degraded"])
    return given


def hit(found: Mapping[str, Any]) -> Hit:
    """A passage, by what both modes call it: ids hold the tenant."""
    return str(found["source"]["name"]), str(found["content"])


def shared(one: Sequence[Hit], two: Sequence[Hit]) -> float:
    """How many of ten are in both; lists that are both shorter count as if filled with the same."""
    longest = max(len(one), len(two))
    return 10.0 if not longest else 10 * len(set(one) & set(two)) / longest


def test_five_hundred_documents_give_the_same_answers(cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    documents, tenant = corpus(), f"t{uuid4().hex}"
    with serving(tmp_path / "data") as one, as_tenant(one.url, tenant_token(one.running.grpc, tenant, one.running.secret)) as http:
        send(http, documents)
        expected, embedded = answers(http), stats(http)
    with as_tenant(cluster.url, tenant_token(cluster.grpc, tenant)) as http:
        send(http, documents)
        found, distributed = answers(http), stats(http)
    overlap = {mode: [shared(*both) for both in zip(expected[mode], found[mode], strict=True)] for mode in MODES}
    same = {mode: sum(each) / len(each) for mode, each in overlap.items()}
    with capsys.disabled():
        told = ", ".join(f"{mode} {same[mode]:.2f} (least {min(overlap[mode]):.0f})" for mode in MODES)
        sys.stdout.write(f"\nof the first ten of {len(overlap['hybrid'])} queries, the same in both ways to run: {told}\n")
    assert sum(1 for each in expected["hybrid"] if len(each) == 10) >= 40, "queries that find little compare little"
    assert same["hybrid"] >= SAME_OF_TEN, overlap
    assert same["keyword"] >= SAME_WORDS_OF_TEN, overlap
    assert distributed == embedded


def measured(*where: str, settings: Mapping[str, str] | None = None) -> dict[str, Any]:
    """`eunoe bench retrieval` on the small set, by arm."""
    done = subprocess.run(
        [EUNOE, "bench", "retrieval", str(SET), "--ablate", "--json", *where],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, **(settings or {})},
    )
    assert done.returncode == 0, done.stderr
    return {each["arm"].partition(" (")[0]: each for each in json.loads(done.stdout)["sets"][0]["arms"]}


def test_the_bench_gives_the_same_figures(cluster: Cluster, tmp_path: Path) -> None:
    # The same tenant: ids follow from it, and among equal scores the id decides.
    tenant = f"t{uuid4().hex}"
    with serving(tmp_path / "data") as one:
        token = tenant_token(one.running.grpc, tenant, one.running.secret)
        embedded = measured("--server", one.running.grpc, settings={"EUNOE_CLIENT__TOKEN": token})
    distributed = measured("--server", cluster.grpc, settings={"EUNOE_CLIENT__TOKEN": tenant_token(cluster.grpc, tenant)})
    for arm in ("BM25 only", "+ turn signs"):
        now, then = ({name: each[arm][name] for name in MEASURES} for each in (distributed, embedded))
        assert now == pytest.approx(then, abs=MOST_DIFFERENCE), f"{arm}: {now}, embedded {then}"

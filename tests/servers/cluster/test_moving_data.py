"""Everything of a container from one process to the cluster and back, by `eunoe export` and `eunoe import`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from driving import ended, hits, post
from eunoe_standalone.testing import ServerProcess, serving
from servers.cluster import Cluster
from servers.fixtures import TOKEN

pytestmark = [pytest.mark.servers, pytest.mark.timeout(1500)]
QUERIES = ("Who owns the red skiff?", "green tea", "a turn about anchors", "when does the lighthouse keeper sleep", "Gen\u00e8ve")
NOTHING = 0.05
"""Hits below have nothing to do with the query, and which of them come along hangs on the last bit of a vector."""
LATIN = "L'\u00e9t\u00e9 fut tr\u00e8s chaud \u00e0 Gen\u00e8ve.".encode("latin-1")


def run(*words: str) -> Any:
    command = [str(Path(sys.executable).parent / "eunoe"), *words, "--json"]
    settings = {**os.environ, "EUNOE_CLIENT__TOKEN": TOKEN}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=settings)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@contextmanager
def door(server: ServerProcess) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=60, headers={"authorization": f"Bearer {server.running.secret}"}) as made:
        yield made


def filled(http: httpx.Client, container: str) -> list[str]:
    ids = [
        post(http, "The red skiff belongs to Mara. I prefer green tea.", container, name="boats.txt", tags=["boats"]),
        post(http, "# Lighthouse\n\nThe keeper sleeps at noon and wakes at dusk.", container, content_type="markdown", custom_id="keeper"),
    ]
    for at, text in enumerate(("first a turn about ropes", "then a turn about anchors")):
        turn = {"session": "s1", "position": at, "speaker": "Ann", "date": "2026-03-01"}
        ids.append(post(http, text, container, name=f"s1#{at}", metadata=turn, event_time="2026-03-01T10:00:00Z"))
    file = {"file": ("ete.txt", LATIN)}
    ids.append(http.post("/v1/documents/upload", files=file, data={"container": container}).json()["id"])
    gone = post(http, "My favourite secret is a lighthouse in Gen\u00e8ve.", container)
    assert {each["status"] for each in ended(http, [*ids, gone])} == {"done"}
    assert http.delete(f"/v1/documents/{gone}").status_code == 200
    for memory in hits(http, "I prefer green tea", container):
        if memory["kind"] == "preference":
            assert http.patch(f"/v1/memories/{memory['id']}", json={"tags": ["mine"], "confidence": 0.5}).status_code == 200
    return ids


def answers(http: httpx.Client, container: str) -> list[tuple[str, set[str], list[str]]]:
    """The best hit, all hits worth the name, and the tags of the first."""
    found = [hits(http, query, container) for query in QUERIES]
    return [(each[0]["id"], {hit["id"] for hit in each if hit["score"] >= NOTHING}, each[0]["tags"]) for each in found]


def shown(http: httpx.Client, ids: list[str]) -> list[dict[str, Any]]:
    kept = ("id", "container", "content_type", "name", "custom_id", "metadata", "tags", "sha256", "event_time", "created_at")
    found = [http.get(f"/v1/documents/{each}").json() for each in ids]
    return [{name: each[name] for name in kept} for each in found]


def test_one_process_to_the_cluster_and_back(cluster: Cluster, http: httpx.Client, tmp_path: Path) -> None:
    container = f"c{uuid4().hex}"
    with serving(tmp_path / "first") as server, door(server) as first:
        ids = filled(first, container)
        before, documents = answers(first, container), shown(first, ids)
        there = run("export", str(tmp_path / "there.tar"), "--data-dir", str(server.data_dir))
        assert (there["documents"], there["edited"]) == (5, 1)
    moved = run("import", str(tmp_path / "there.tar"), "--server", cluster.grpc)
    assert (moved["documents"], moved["memories"]["applied"]) == ({"done": 5}, 1)
    assert run("import", str(tmp_path / "there.tar"), "--server", cluster.grpc)["documents"] == {"unchanged": 5}
    assert shown(http, ids) == documents
    assert answers(http, container) == before
    assert http.get(f"/v1/documents/{ids[-1]}/content").content == LATIN
    back = run("export", str(tmp_path / "back.tar.gz"), "--container", container, "--server", cluster.grpc)
    assert (back["documents"], back["edited"]) == (5, 1)
    with serving(tmp_path / "second") as server, door(server) as second:
        assert run("import", str(tmp_path / "back.tar.gz"), "--data-dir", str(server.data_dir))["documents"] == {"done": 5}
        assert shown(second, ids) == documents
        assert answers(second, container) == before

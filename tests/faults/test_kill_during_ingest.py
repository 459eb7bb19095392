"""kill -9 of `eunoe serve` at random moments of a 300-document ingest: every acknowledged document ends once, stores agree."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import httpx
import pytest
from eunoe_standalone.testing import ServerProcess, serving

DOCUMENTS = 300
KILLS = 5
PARALLEL_LIMIT_S = 240
EUNOE = str(Path(sys.executable).parent / "eunoe")


def text_of(number: int) -> str:
    """A document of its own; every tenth is long, every twentieth cannot be read (no text in it)."""
    if number % 20 == 7:
        return "<html><head><title>empty</title></head><body></body></html>"
    body = f"Report {number} of the valley survey. The gauge at station {number} read {number * 37 % 991} units."
    if number % 5 == 0:
        body += f" Remember that station {number} is closed on Mondays. I prefer the station at mile {number % 3}."
    return body + (f"\n\nMore on station {number}. " + "The water was clear and cold. " * 40) * (6 if number % 10 == 3 else 1)


def post(running: ServerProcess, number: int) -> str | None:
    """The id of an acknowledged document; None when the server did not answer."""
    kind = "html" if number % 20 == 7 else "text"
    body = {"content": text_of(number), "container": "valley", "content_type": kind, "name": f"report-{number}"}
    try:
        answer = httpx.post(f"{running.url}/v1/documents", json=body, timeout=10)
    except (httpx.HTTPError, OSError, ValueError):
        return None
    if answer.status_code != 202:
        return None
    return str(answer.json()["id"])


def all_ended(running: ServerProcess) -> bool:
    stats = httpx.get(f"{running.url}/v1/stats", timeout=10).json()["documents"]["by_status"]
    return sum(stats.get(status, 0) for status in ("queued", "extracting", "chunking", "embedding", "indexing")) == 0


@pytest.mark.slow
@pytest.mark.timeout(PARALLEL_LIMIT_S)
@pytest.mark.parametrize("seed", [11])
def test_every_acknowledged_document_ends_once(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    data_dir = tmp_path / "data"
    kills = sorted(draw.sample(range(20, DOCUMENTS - 5), KILLS))
    acknowledged: dict[int, str] = {}
    with serving(data_dir) as running:
        for number in range(DOCUMENTS):
            if number in kills:
                time.sleep(draw.random() * 0.3)
                running.kill()
                running.start()
            while number not in acknowledged:  # a client repeats what was not answered
                identity = post(running, number)
                if identity is not None:
                    acknowledged[number] = identity
        running.kill()
        running.start()
        deadline = time.monotonic() + 120
        while not all_ended(running):
            assert time.monotonic() < deadline, "documents are stuck"
            time.sleep(0.2)
        with httpx.Client(base_url=running.url, timeout=10) as client:
            assert len(set(acknowledged.values())) == DOCUMENTS
            statuses = {number: client.get(f"/v1/documents/{identity}").json() for number, identity in acknowledged.items()}
            for number, document in statuses.items():
                expected = "failed" if number % 20 == 7 else "done"
                assert document["status"] == expected, document
                if expected == "failed":
                    assert document["error_code"] == "empty_extraction"
            listed = client.post("/v1/documents/list", json={"container": "valley", "limit": 1000}).json()
            assert listed["total"] == DOCUMENTS
            assert Counter(each["id"] for each in listed["documents"]) == Counter(acknowledged.values())
            answer = client.post("/v1/search", json={"query": "gauge at station 123", "limit": 5}).json()
            assert any(hit["document_id"] == acknowledged[123] for hit in answer["results"])
            assert len({hit["id"] for hit in answer["results"]}) == len(answer["results"])
        running.stop()
    audit = subprocess.run(
        [EUNOE, "doctor", "--data-dir", str(data_dir), "--json"], capture_output=True, text=True, timeout=120, check=False
    )
    findings = {each["name"]: each for each in json.loads(audit.stdout)}
    for name in ("audit: blobs", "audit: vectors", "audit: graph", "audit: catalogue"):
        assert findings[name]["ok"], findings

"""What a server of its own limits refuses: sizes, time and memory of parsers, space, open documents."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from eunoe_standalone.testing import serving


def upload(http: httpx.Client, data: bytes, name: str, **fields: str) -> httpx.Response:
    return http.post("/v1/documents/upload", files={"file": (name, data)}, data={"container": f"bad{uuid4().hex}", **fields})


def ended(http: httpx.Client, identity: str, limit_s: float = 30) -> dict[str, Any]:
    deadline, tick = time.monotonic() + limit_s, threading.Event()
    while True:
        found: dict[str, Any] = http.get(f"/v1/documents/{identity}").json()
        if found["status"] in {"done", "failed"}:
            return found
        assert time.monotonic() < deadline, found
        tick.wait(0.02)


def refused(answer: httpx.Response, status: int, code: str) -> str:
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert answer.json()["request_id"]
    return str(answer.json()["detail"])


def test_oversize_is_refused_while_it_streams(tmp_path: Path) -> None:
    with serving(tmp_path / "data", {"EUNOE_GATEWAY__MAX_UPLOAD_BYTES": "100000", "EUNOE_GATEWAY__MAX_TEXT_BYTES": "1000"}) as running:
        with httpx.Client(base_url=running.url, timeout=30) as http:
            refused(upload(http, b"a" * 200_000, "big.txt"), 413, "payload_too_large")
            refused(http.post("/v1/documents", json={"content": "b" * 5_000, "container": "c"}), 413, "payload_too_large")
            assert http.get("/v1/stats").json()["documents"]["total"] == 0
        staged = [each for each in (running.data_dir / "blobs").rglob("*") if each.is_file()]
        assert staged == []


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_parser_that_hangs_or_eats_memory_fails_its_document_only(tmp_path: Path) -> None:
    limits = {"EUNOE_EXTRACTOR__PARSER_WALL_S": "2", "EUNOE_EXTRACTOR__PARSER_MEMORY_MIB": "200", "EUNOE_EXTRACTOR__PARSER_WORKERS": "1"}
    with serving(tmp_path / "data", limits) as running, httpx.Client(base_url=running.url, timeout=60) as http:
        big = ("word " * 40 + "\n\n") * 400_000  # 80 MB of paragraphs: more than the parser may hold, or longer than it may take
        heavy = upload(http, big.encode(), "heavy.md").json()
        small = http.post("/v1/documents", json={"content": "A small note after it.", "container": "after"}).json()
        started = time.monotonic()
        found = ended(http, heavy["id"], limit_s=60)
        assert found["status"] == "failed"
        assert found["error_code"] in {"parser_memory_exceeded", "parser_timeout", "budget_exceeded"}
        assert ended(http, small["id"])["status"] == "done"
        assert time.monotonic() - started < 30


@pytest.mark.slow
def test_a_full_disk_refuses_new_work_and_keeps_searching(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as running, httpx.Client(base_url=running.url, timeout=30) as http:
        note = http.post("/v1/documents", json={"content": "The mast is made of larch.", "container": "c"}).json()
        ended(http, note["id"])
    full = {"EUNOE_SERVER__QUEUE_LOW_DISK_BYTES": str(1 << 60)}
    with serving(tmp_path / "data", full) as running, httpx.Client(base_url=running.url, timeout=30) as http:
        refused(http.post("/v1/documents", json={"content": "No room.", "container": "c"}), 507, "storage_full")
        refused(upload(http, b"No room either.", "note.txt"), 507, "storage_full")
        assert http.post("/v1/search", json={"query": "larch mast", "container": "c"}).json()["results"]
        ready = http.get("/ready")
        assert ready.status_code == 503
        assert ready.json()["parts"]["disk"]["ok"] is False
        assert http.get("/live").status_code == 200


@pytest.mark.slow
def test_too_many_open_documents_are_refused_with_a_delay(tmp_path: Path) -> None:
    slow = {"EUNOE_GATEWAY__QUEUE_LIMIT": "3", "EUNOE_EXTRACTOR__CONCURRENCY": "1"}
    with serving(tmp_path / "data", slow) as running, httpx.Client(base_url=running.url, timeout=30) as http:
        text = "\n\n".join(f"Entry {number}: the tide turned at dawn." for number in range(1000))
        answers = [http.post("/v1/documents", json={"content": f"{text} {number}", "container": "c"}) for number in range(12)]
        refusals = [each for each in answers if each.status_code == 429]
        assert refusals, [each.status_code for each in answers]
        assert refusals[0].json()["code"] == "queue_full"
        assert int(refusals[0].headers["retry-after"]) >= 1
        for each in answers:
            if each.status_code == 202:
                assert ended(http, each.json()["id"], limit_s=50)["status"] == "done"
        assert http.post("/v1/documents", json={"content": "Room again.", "container": "c"}).status_code == 202

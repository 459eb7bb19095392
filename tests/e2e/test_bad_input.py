"""Every bad input gets its named error, and the server stays as it was."""

from __future__ import annotations

import io
import json
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from eunoe_standalone.testing import ServerProcess, serving
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas


def pdf(*, encrypted: bool = False) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, encrypt=StandardEncryption("secret") if encrypted else None)
    canvas.drawString(72, 720, "The bridge was rebuilt after the flood of the second winter.")
    canvas.save()
    return buffer.getvalue()


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


@pytest.fixture(autouse=True)
def _still_works(http: httpx.Client) -> Iterator[None]:
    """After each of these the server takes and finds a good document as before."""
    yield
    container = f"good{uuid4().hex}"
    good = http.post("/v1/documents", json={"content": "The lamp burns whale oil.", "container": container}).json()
    assert ended(http, good["id"])["status"] == "done"
    assert http.post("/v1/search", json={"query": "whale oil lamp", "container": container}).json()["results"]


def test_empty_bodies(http: httpx.Client) -> None:
    refused(http.post("/v1/documents", content=b"", headers={"content-type": "application/json"}), 400, "invalid_request")
    refused(http.post("/v1/documents", json={"content": "", "container": "c"}), 400, "empty_content")
    refused(http.post("/v1/search", json={"query": " "}), 400, "empty_content")


def test_empty_files(http: httpx.Client) -> None:
    for name in ("nothing.txt", "nothing.pdf"):
        answer = upload(http, b"", name)
        assert answer.status_code == 400, answer.text
        assert answer.json()["code"] in {"empty_content", "empty_file"}


def test_truncated_pdf(http: httpx.Client) -> None:
    found = ended(http, upload(http, pdf()[:200], "cut.pdf").json()["id"])
    assert (found["status"], found["error_code"]) == ("failed", "corrupt_document")


def test_encrypted_pdf(http: httpx.Client) -> None:
    found = ended(http, upload(http, pdf(encrypted=True), "locked.pdf").json()["id"])
    assert (found["status"], found["error_code"]) == ("failed", "encrypted_document")
    assert "password" in found["error_message"]


def test_wrong_extension_is_a_warning_not_an_error(http: httpx.Client) -> None:
    found = ended(http, upload(http, pdf(), "bridge.txt").json()["id"])
    assert (found["status"], found["content_type"]) == ("done", "pdf")
    assert any("content is pdf" in warning for warning in found["warnings"])


def test_unknown_types(http: httpx.Client) -> None:
    png = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(64)
    message = refused(upload(http, png, "picture.png"), 415, "unsupported_format")
    assert "PDF and DOCX" in message  # says what is supported
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a.txt", "a")
    refused(upload(http, archive.getvalue(), "a.docx"), 415, "unsupported_format")
    refused(upload(http, bytes(range(256)) * 8, "noise.bin"), 415, "unsupported_format")
    refused(http.post("/v1/documents", json={"content": "x", "container": "c", "content_type": "klingon"}), 415, "unsupported_format")


def test_invalid_utf8(http: httpx.Client) -> None:
    body = b'{"container": "c", "content": "caf\xe9"}'
    refused(http.post("/v1/documents", content=body, headers={"content-type": "application/json"}), 400, "invalid_encoding")
    # As a file the same bytes are fine: the character set is detected.
    found = ended(http, upload(http, "Le café est fermé le dimanche.".encode("cp1252"), "cafe.txt").json()["id"])
    assert found["status"] == "done"
    assert "café" in http.get(f"/v1/documents/{found['id']}/text").text


def test_unknown_names(http: httpx.Client) -> None:
    assert "colour" in refused(http.post("/v1/search", json={"query": "x", "filters": {"colour": "red"}}), 422, "unknown_filter")
    assert "containr" in refused(http.post("/v1/search", json={"query": "x", "containr": "c"}), 422, "unknown_field")
    accepted = http.post("/v1/documents", json={"content": "Accepted all the same.", "container": "c", "colour": "red"})
    assert accepted.status_code == 202
    assert any("colour" in warning for warning in accepted.json()["warnings"])


def test_missing_container_and_ids(http: httpx.Client) -> None:
    refused(http.request("DELETE", f"/v1/containers/none{uuid4().hex}", params={"confirm": "true"}), 404, "container_not_found")
    refused(http.request("DELETE", "/v1/containers/default"), 400, "confirmation_required")
    refused(http.get(f"/v1/documents/{uuid4()}"), 404, "document_not_found")
    refused(http.get("/v1/documents/not-an-id"), 422, "invalid_field")
    refused(http.get(f"/v1/memories/{uuid4()}"), 404, "memory_not_found")
    assert http.post("/v1/search", json={"query": "x", "container": f"none{uuid4().hex}"}).json()["results"] == []
    refused(http.post("/v1/documents", json={"content": "x", "container": "a..b"}), 422, "invalid_field")


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


def test_errors_never_show_content(http: httpx.Client) -> None:
    secret = "the-combination-is-4711"
    answers = [
        http.post("/v1/documents", json={"content": secret, "container": "a..b"}),
        http.post("/v1/search", json={"query": secret, "filters": {"x": secret}}),
        http.post(
            "/v1/documents", content=json.dumps({"content": secret}).encode() + b"\xff", headers={"content-type": "application/json"}
        ),
    ]
    assert all(each.status_code >= 400 and secret not in each.text for each in answers)


def test_the_server_log_has_no_content(server: ServerProcess, http: httpx.Client) -> None:
    secret = f"never-log-{uuid4().hex}"
    ended(http, http.post("/v1/documents", json={"content": secret, "container": "c", "name": f"{secret}.txt"}).json()["id"])
    http.post("/v1/search", json={"query": secret})
    assert secret not in server.log.read_text(encoding="utf-8")

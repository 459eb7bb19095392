"""Every bad input gets its named error, and the server stays as it was."""

from __future__ import annotations

import io
import json
import threading
import time
import zipfile
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas
from servers.door import Door


def pdf(*, encrypted: bool = False) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, encrypt=StandardEncryption("secret") if encrypted else None)
    canvas.drawString(72, 720, "The bridge was rebuilt after the flood of the second winter.")
    canvas.save()
    return buffer.getvalue()


def upload(http: httpx.Client, data: bytes, name: str, **fields: str) -> httpx.Response:
    return http.post("/v1/documents/upload", files={"file": (name, data)}, data={"container": f"bad{uuid4().hex}", **fields})


def ended(http: httpx.Client, identity: str, limit_s: float = 60) -> dict[str, Any]:
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
    assert "pdf, docx" in message  # says what is supported
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


def test_no_log_has_content(door: Door, http: httpx.Client) -> None:
    secret = f"never-log-{uuid4().hex}"
    ended(http, http.post("/v1/documents", json={"content": secret, "container": "c", "name": f"{secret}.txt"}).json()["id"])
    http.post("/v1/search", json={"query": secret})
    assert not [each for each in door.logs if secret in each.read_text(encoding="utf-8")]

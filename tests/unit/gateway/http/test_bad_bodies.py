from __future__ import annotations

from typing import Any

import httpx
import pytest

JSON = {"content-type": "application/json"}
BAD = {
    "empty": (b"", 400, "invalid_request"),
    "white space": (b" \n", 400, "invalid_request"),
    "null": (b"null", 400, "invalid_request"),
    "array": (b'[{"content": "x"}]', 400, "invalid_request"),
    "string": (b'"x"', 400, "invalid_request"),
    "number": (b"7", 400, "invalid_request"),
    "broken": (b'{"content": "x"', 400, "invalid_request"),
    "trailing": (b'{"content": "x", "container": "c"} {}', 400, "invalid_request"),
    "binary": (b"\x00\x01\x02", 400, "invalid_request"),
    "invalid utf-8": (b'{"content": "\xff\xfe", "container": "c"}', 400, "invalid_encoding"),
    "utf-16": ('{"content": "x", "container": "c"}'.encode("utf-16"), 400, "invalid_encoding"),
    "latin-1": ('{"content": "é", "container": "c"}'.encode("latin-1"), 400, "invalid_encoding"),
    "NaN": (b'{"content": "x", "container": "c", "metadata": {"a": NaN}}', 400, "invalid_request"),
    "infinity": (b'{"content": "x", "container": "c", "metadata": {"a": -Infinity}}', 400, "invalid_request"),
    "overflow": (b'{"content": "x", "container": "c", "metadata": {"a": 1e999}}', 400, "invalid_request"),
    "endless digits": (b'{"content": "x", "container": "c", "metadata": {"a": ' + b"9" * 5000 + b"}}", 400, "invalid_request"),
    "large number": (b'{"content": "x", "container": "c", "metadata": {"a": ' + b"9" * 400 + b"}}", 422, "invalid_field"),
    "lone surrogate": (b'{"content": "\\ud800", "container": "c"}', 422, "invalid_field"),
    "surrogate in a name": (b'{"content": "x", "container": "c", "\\udfff": 1}', 422, "invalid_field"),
    "surrogate in metadata": (b'{"content": "x", "container": "c", "metadata": {"a": ["\\ud800"]}}', 422, "invalid_field"),
    "nested arrays": (b'{"content": "x", "container": "c", "metadata": {"a": ' + b"[" * 200 + b"]" * 200 + b"}}", 400, "invalid_request"),
    "nested without end": (b"[" * 500_000, 400, "invalid_request"),
    "nested objects": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, 400, "invalid_request"),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_body_is_named_and_changes_nothing(client: httpx.AsyncClient, door: Any, name: str) -> None:
    body, status, code = BAD[name]
    answer = await client.post("/v1/documents", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json().keys() == {"detail", "code", "request_id"}
    assert len(answer.json()["detail"]) < 300
    assert await door.untouched()


@pytest.mark.parametrize("path", ["/v1/search", "/v1/documents/list", "/v1/dead-letters/replay"])
async def test_no_route_breaks_on_a_bad_body(client: httpx.AsyncClient, path: str) -> None:
    for name, (body, _, _) in BAD.items():
        answer = await client.post(path, content=body, headers=JSON)
        assert answer.status_code < 500, name


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json"])
@pytest.mark.parametrize("path", ["/v1/documents", "/v1/search", "/v1/documents/list", "/v1/dead-letters/replay"])
async def test_json_must_be_declared(client: httpx.AsyncClient, door: Any, kind: str, path: str) -> None:
    headers = {"content-type": kind} if kind else {}
    answer = await client.post(path, content=b'{"content": "x", "container": "c", "query": "x"}', headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_content_type")
    assert await door.untouched()


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON", "application/merge-patch+json"])
async def test_what_counts_as_json(client: httpx.AsyncClient, kind: str) -> None:
    answer = await client.post("/v1/documents", content=b'\xef\xbb\xbf{"content": "x", "container": "c"}', headers={"content-type": kind})
    assert answer.status_code == 202  # also with the byte order mark that some Windows programs write


@pytest.mark.parametrize("path", ["/v1/documents/list", "/v1/dead-letters/replay", "/v1/documents/0/cancel"])
async def test_a_form_without_a_body_is_refused_too(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.post(path, headers={"content-type": "application/x-www-form-urlencoded"})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_content_type")


async def test_compressed_bodies_are_refused(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/documents", content=b"\x1f\x8b", headers={**JSON, "content-encoding": "gzip"})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_content_type")


async def test_a_large_body_is_refused_by_its_declared_length(door: Any) -> None:
    async def endless() -> Any:
        yield b'{"content": "'
        raise AssertionError("more of the body was read")

    async with door.client(max_json_bytes=1000) as client:
        declared = await client.post("/v1/documents", content=endless(), headers={**JSON, "content-length": "100000"})
        digits = await client.post("/v1/documents", content=endless(), headers={**JSON, "content-length": "9" * 5000})
    assert (declared.status_code, declared.json()["code"]) == (413, "payload_too_large")
    assert digits.status_code == 413


async def test_a_large_body_without_a_length_is_refused_when_it_passes_the_limit(door: Any) -> None:
    sent = 0

    async def endless() -> Any:
        nonlocal sent
        yield b'{"content": "'
        while True:
            sent += 500
            assert sent < 5000
            yield b"x" * 500

    async with door.client(max_json_bytes=1000) as client:
        answer = await client.post("/v1/documents", content=endless(), headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (413, "payload_too_large")


async def test_a_search_body_may_be_small_only(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/search", json={"query": "x" * 2_000_000})
    assert (answer.status_code, answer.json()["code"]) == (413, "payload_too_large")

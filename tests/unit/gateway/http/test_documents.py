from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx
import pytest

NOTE = {"content": "Alice likes tea.", "container": "team.notes", "name": "note.txt"}


async def test_a_text_is_accepted_in_the_shape_of_memorydb(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/documents", json=NOTE)
    assert answer.status_code == 202
    body = answer.json()
    assert {"id", "container", "content_type", "status", "created_at"} <= body.keys()
    assert (body["container"], body["content_type"], body["status"], body["deduplicated"]) == ("team.notes", "text", "queued", False)
    assert body["warnings"] == []
    assert body["created_at"].endswith("Z")


async def test_it_can_be_read_right_after_the_202(client: httpx.AsyncClient) -> None:
    accepted = (await client.post("/v1/documents", json={**NOTE, "metadata": {"n": 3, "deep": {"x": [1.5, None]}}, "tags": ["a"]})).json()
    found = (await client.get(f"/v1/documents/{accepted['id']}")).json()
    memorydb = {
        "id", "container", "content_type", "raw_content", "source_url", "metadata", "status", "error_message", "created_at", "updated_at"
    }  # fmt: skip
    assert memorydb <= found.keys()
    assert {"name", "custom_id", "searchable", "degraded", "stages", "counts", "warnings", "children"} <= found.keys()
    assert (found["raw_content"], found["status"]) == (None, "queued")
    assert found["metadata"] == {"n": 3, "deep": {"x": [1.5, None]}}
    assert not found["searchable"]


async def test_the_text_is_there_when_it_was_extracted(ours: httpx.AsyncClient, door: Any) -> None:
    accepted = (await ours.post("/v1/documents", json=NOTE)).json()
    early = await ours.get(f"/v1/documents/{accepted['id']}/text")
    assert (early.status_code, early.json()["code"]) == (409, "conflict")
    await door.world.process(accepted["id"])
    text = await ours.get(f"/v1/documents/{accepted['id']}/text")
    assert (text.status_code, text.text) == (200, NOTE["content"])
    assert text.headers["content-type"].startswith("text/markdown")
    found = (await ours.get(f"/v1/documents/{accepted['id']}")).json()
    assert (found["raw_content"], found["status"], found["searchable"]) == (NOTE["content"], "done", True)


async def test_three_equal_posts_are_one_document(client: httpx.AsyncClient) -> None:
    answers = [(await client.post("/v1/documents", json=NOTE)).json() for _ in range(3)]
    assert len({each["id"] for each in answers}) == 1
    assert [each["deduplicated"] for each in answers] == [False, True, True]


async def test_an_idempotency_key_is_bound_to_its_body(client: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "k1"}
    first = await client.post("/v1/documents", json=NOTE, headers=key)
    again = await client.post("/v1/documents", json=NOTE, headers=key)
    other = await client.post("/v1/documents", json={**NOTE, "content": "Another."}, headers=key)
    assert first.json()["id"] == again.json()["id"]
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")


async def test_unknown_ingest_fields_are_accepted_and_named(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/documents?priority=high", json={**NOTE, "colour": "red", "Tags": []})
    assert answer.status_code == 202
    assert answer.json()["warnings"] == [f"unknown field '{name}' was ignored" for name in ("Tags", "colour", "priority")]


async def test_very_many_unknown_fields_are_counted_only(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/documents", json={**NOTE, **{f"field-{number}" * 50: 1 for number in range(200)}})
    assert len(answer.json()["warnings"]) == 21
    assert answer.json()["warnings"][-1] == "180 more unknown fields were ignored"
    assert len(answer.content) < 5_000


@pytest.mark.parametrize(
    ("body", "status", "code", "named"),
    [
        ({"container": "c"}, 422, "invalid_field", "content"),
        ({"content": "x"}, 422, "invalid_field", "container"),
        ({"content": "x", "container": ""}, 400, "invalid_request", "container"),
        ({"content": "x", "container": "a..b"}, 422, "invalid_field", "container"),
        ({"content": "x", "container": "a\0b"}, 422, "invalid_field", "container"),
        ({"content": "x", "container": ["c"]}, 422, "invalid_field", "container"),
        ({"content": "", "container": "c"}, 400, "empty_content", ""),
        ({"content": " \n", "container": "c"}, 400, "empty_content", ""),
        ({"content": "a\0b", "container": "c"}, 400, "invalid_encoding", ""),
        ({"content": 7, "container": "c"}, 422, "invalid_field", "content"),
        ({"content": "x", "container": "c", "content_type": "image"}, 415, "unsupported_format", "image"),
        ({"content": "x", "container": "c", "content_type": "pdf"}, 415, "unsupported_format", "pdf"),
        ({"content": "https://example.com", "container": "c", "content_type": "url"}, 503, "capability_unavailable", ""),
        ({"content": "x", "container": "c", "metadata": [1]}, 422, "invalid_field", "metadata"),
        ({"content": "x", "container": "c", "metadata": {"id": 2**53 + 1}}, 422, "invalid_field", "metadata"),
        ({"content": "x", "container": "c", "metadata": {"t": "x" * 70_000}}, 422, "invalid_field", "metadata"),
        ({"content": "x", "container": "c", "tags": "a"}, 422, "invalid_field", "tags"),
        ({"content": "x", "container": "c", "tags": ["a"] * 3 + [""]}, 422, "invalid_field", "tags"),
        ({"content": "x", "container": "c", "event_time": "yesterday"}, 422, "invalid_field", "event_time"),
        ({"content": "x", "container": "c", "event_time": "0001-01-01T00:00:00+14:00"}, 422, "invalid_field", "event_time"),
        ({"content": "x", "container": "c", "name": "a\nb"}, 422, "invalid_field", "name"),
        ({"content": "x" * 100_001, "container": "c"}, 413, "payload_too_large", ""),
    ],
)
async def test_bad_fields_are_refused_by_name(
    client: httpx.AsyncClient, door: Any, body: dict[str, Any], status: int, code: str, named: str
) -> None:
    answer = await client.post("/v1/documents", json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert named in answer.json()["detail"]
    assert await door.untouched()


async def test_an_event_time_without_a_zone_is_utc(client: httpx.AsyncClient) -> None:
    accepted = (await client.post("/v1/documents", json={**NOTE, "event_time": "2026-01-31T12:00:00"})).json()
    assert (await client.get(f"/v1/documents/{accepted['id']}")).json()["event_time"] == "2026-01-31T12:00:00Z"


async def test_lists_take_memorydbs_query_and_a_body_and_tell_the_true_total(client: httpx.AsyncClient) -> None:
    for number in range(5):
        await client.post("/v1/documents", json={**NOTE, "content": f"Text {number}.", "container": "a" if number < 3 else "b"})
    everything = (await client.post("/v1/documents/list")).json()
    assert everything["total"] == 5
    assert {"id", "container", "content_type", "status", "created_at", "updated_at"} <= everything["documents"][0].keys()
    some = (await client.post("/v1/documents/list", params={"container": "a", "limit": 2})).json()
    assert (len(some["documents"]), some["total"]) == (2, 3)
    body_wins = (await client.post("/v1/documents/list?container=a", json={"container": "b"})).json()
    assert body_wins["total"] == 2
    assert (await client.post("/v1/documents/list", content=b"null", headers={"content-type": "application/json"})).json()["total"] == 5


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("colour=red", "unknown_field"),
        ("limit=0", "invalid_field"),
        ("limit=1001", "invalid_field"),
        ("limit=many", "invalid_field"),
        ("offset=-1", "invalid_field"),
        ("offset=99999999999999999999", "invalid_field"),
        ("status=sleeping", "invalid_field"),
        ("container=%00", "invalid_field"),
    ],
)
async def test_a_list_refuses_what_it_does_not_know(client: httpx.AsyncClient, query: str, code: str) -> None:
    answer = await client.post(f"/v1/documents/list?{query}")
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert query.partition("=")[0] in answer.json()["detail"]


@pytest.mark.parametrize(
    ("content", "headers"),
    [(None, {}), (b"", {}), (b"null", {"content-type": "application/json"}), (b"{nonsense", {"content-type": "text/plain"})],
)
async def test_a_delete_needs_no_body_and_minds_none(client: httpx.AsyncClient, content: bytes | None, headers: dict[str, str]) -> None:
    identity = (await client.post("/v1/documents", json=NOTE)).json()["id"]
    answer = await client.request("DELETE", f"/v1/documents/{identity}", content=content, headers=headers)
    assert (answer.status_code, answer.json()) == (200, {"id": identity, "deleted": True})
    assert (await client.get(f"/v1/documents/{identity}")).status_code == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", ""), ("GET", "/text"), ("GET", "/events"), ("DELETE", ""), ("POST", "/cancel")],
)
async def test_unknown_and_malformed_ids(client: httpx.AsyncClient, method: str, path: str) -> None:
    unknown = await client.request(method, f"/v1/documents/{uuid4()}{path}")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "document_not_found")
    for malformed in ("7", "%00", "a%00b", "%ff", "..%2f..", "x" * 3000):
        answer = await client.request(method, f"/v1/documents/{malformed}{path}")
        assert answer.status_code in {404, 422}, malformed
        assert answer.json().keys() == {"detail", "code", "request_id"}


async def test_cancel_ends_an_open_document(client: httpx.AsyncClient) -> None:
    identity = (await client.post("/v1/documents", json=NOTE)).json()["id"]
    answer = await client.post(f"/v1/documents/{identity}/cancel")
    assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")


async def test_other_tenants_see_nothing(client: httpx.AsyncClient, ours: httpx.AsyncClient) -> None:
    identity = (await client.post("/v1/documents", json=NOTE)).json()["id"]
    assert (await ours.get(f"/v1/documents/{identity}")).status_code == 404
    assert (await ours.delete(f"/v1/documents/{identity}")).status_code == 404
    assert (await ours.post("/v1/documents/list")).json()["total"] == 0
    assert (await client.get(f"/v1/documents/{identity}")).status_code == 200

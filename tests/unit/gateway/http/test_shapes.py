"""MemoryDB's shapes, with documents that went through every stage."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from eunoe_contracts.stages import Stage
from eunoe_stores.catalogue.rows import Page

TEA = "Alice likes tea.\n\nBob repairs bicycles."


@pytest.fixture
async def tea(ours: httpx.AsyncClient, door: Any) -> str:
    body = {"content": TEA, "container": "team.notes", "name": "tea.txt", "tags": ["drinks"], "metadata": {"year": 1999}}
    identity = str((await ours.post("/v1/documents", json=body)).json()["id"])
    await door.world.process(identity)
    return identity


async def memories(door: Any) -> list[str]:
    everything = Page(limit=10, offset=0)
    rows, _ = await door.world.catalogue.list_memories("t1", container="", document=None, kinds=frozenset(), page=everything)
    return [str(each.id) for each in rows]


async def test_the_root_says_what_this_is_and_every_path_it_names_answers(client: httpx.AsyncClient) -> None:
    found = (await client.get("/")).json()
    assert (found["name"], found["version"]) == ("eunoe", "0.1.0")
    for name in ("docs", "openapi", "health", "ready"):
        assert (await client.get(found[name])).status_code == 200


async def test_health_is_memorydbs(client: httpx.AsyncClient) -> None:
    assert (await client.get("/health")).json() == {"status": "healthy", "version": "0.1.0"}
    assert (await client.get("/live")).json() == {"live": True}


async def test_ready_names_what_is_missing(client: httpx.AsyncClient, door: Any) -> None:
    assert (await client.get("/ready")).json() == {"ready": True, "parts": {"log": {"ok": True, "reason": ""}}}
    door.parts["log"] = (False, "the log does not answer")
    answer = await client.get("/ready")
    assert answer.status_code == 503
    assert answer.json() == {"ready": False, "parts": {"log": {"ok": False, "reason": "the log does not answer"}}}


async def test_metrics_are_prometheus_text(client: httpx.AsyncClient) -> None:
    answer = await client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert "# TYPE eunoe_gateway_requests_total counter" in answer.text


async def test_stats(ours: httpx.AsyncClient, tea: str) -> None:
    body = (await ours.get("/v1/stats")).json()
    assert (body["documents"]["total"], body["documents"]["by_status"]["done"]) == (1, 1)
    assert {"total", "by_type", "embedded"} <= body["memories"].keys()
    assert body["containers"]["total"] == 1
    assert body["relationships"]["total"] == sum(body["relationships"]["by_type"].values()) > 0


async def test_search(ours: httpx.AsyncClient, tea: str) -> None:
    body = (await ours.post("/v1/search", json={"query": "bicycles", "container": "team.notes", "limit": 5, "explain": True})).json()
    assert body.keys() == {"query", "results", "total", "limit", "offset", "degraded", "took_ms"}
    assert (body["query"], body["limit"], body["offset"]) == ("bicycles", 5, 0)
    hit = body["results"][0]
    named = {
        "id", "document_id", "container", "content", "memory_type", "kind", "similarity", "score", "tags", "created_at", "is_latest",
        "superseded_by", "source", "related", "arms",
    }  # fmt: skip
    assert named <= hit.keys()
    assert (hit["document_id"], hit["content"], hit["tags"]) == (tea, "Bob repairs bicycles.", ["drinks"])
    assert hit["similarity"] == hit["score"]
    assert 0 <= hit["score"] <= 1
    assert hit["source"].keys() >= {"name", "custom_id", "page", "start_s", "end_s", "heading_path"}
    assert hit["source"]["name"] == "tea.txt"


async def test_containers_override_container(ours: httpx.AsyncClient, tea: str) -> None:
    both = await ours.post("/v1/search", json={"query": "bicycles", "container": "team.notes", "containers": ["elsewhere"]})
    assert both.json()["results"] == []
    inherited = await ours.post("/v1/search", json={"query": "bicycles", "containers": ["team.notes.deep"], "inherit": True})
    assert inherited.json()["results"]


@pytest.mark.parametrize(
    ("body", "status", "code", "named"),
    [
        ({}, 422, "invalid_field", "query"),
        ({"query": ""}, 400, "empty_content", "query"),
        ({"query": "x", "k": 3}, 422, "unknown_field", "'k'"),
        ({"query": "x", "filters": {"colour": "red"}}, 422, "unknown_filter", "colour"),
        ({"query": "x", "filters": {"metadata": {"a": [1]}}}, 422, "invalid_field", "metadata"),
        ({"query": "x", "filters": []}, 422, "invalid_field", "filters"),
        ({"query": "x", "filters": {"metadata": {"id": 2**60}}}, 422, "invalid_field", "filters"),
        ({"query": "x", "limit": 0}, 422, "invalid_field", "limit"),
        ({"query": "x", "limit": 101}, 422, "invalid_field", "limit"),
        ({"query": "x", "offset": -1}, 422, "invalid_field", "offset"),
        ({"query": "x", "offset": 2**40}, 422, "invalid_field", "offset"),
        ({"query": "x", "mode": "psychic"}, 422, "invalid_field", "mode"),
        ({"query": "x", "fusion": "cold"}, 422, "invalid_field", "fusion"),
        ({"query": "x", "mode": "vector"}, 503, "capability_unavailable", "vector"),
        ({"query": "x", "as_of": "2020-01-01T00:00:00Z"}, 422, "invalid_field", "as_of"),
        ({"query": "x", "container": "a..b"}, 422, "invalid_field", "container"),
        ({"query": "x", "containers": "c"}, 422, "invalid_field", "containers"),
        ({"query": "x" * 10_001}, 422, "invalid_field", "query"),
    ],
)
async def test_search_refuses_what_it_does_not_know(
    client: httpx.AsyncClient, body: dict[str, Any], status: int, code: str, named: str
) -> None:
    answer = await client.post("/v1/search", json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert named in answer.json()["detail"]


async def test_a_query_with_nul_is_a_query(client: httpx.AsyncClient) -> None:
    assert (await client.post("/v1/search", json={"query": "a\0b"})).status_code == 200


async def test_memories_are_read_edited_and_removed(ours: httpx.AsyncClient, door: Any, tea: str) -> None:
    (identity,) = await memories(door)
    found = (await ours.get(f"/v1/memories/{identity}")).json()
    named = {
        "id", "container", "document_id", "content", "content_hash", "memory_type", "metadata", "tags", "confidence", "is_latest",
        "expires_at", "created_at", "updated_at",
    }  # fmt: skip
    assert named <= found.keys()
    assert (found["memory_type"], found["document_id"], found["is_latest"]) == ("fact", tea, True)
    change = {"metadata": {"checked": True}, "tags": ["a"], "is_latest": False, "confidence": 0.5}
    edited = (await ours.patch(f"/v1/memories/{identity}", json=change)).json()
    assert {name: edited[name] for name in change} == change
    assert (await ours.patch(f"/v1/memories/{identity}", json={"tags": []})).json()["tags"] == []
    related = (await ours.get(f"/v1/memories/{identity}/related")).json()
    assert related["memory_id"] == identity
    assert all({"relationship_type", "rel_confidence", "content"} <= each.keys() for each in related["related"])
    assert (await ours.delete(f"/v1/memories/{identity}")).json() == {"id": identity, "deleted": True}
    assert (await ours.get(f"/v1/memories/{identity}")).status_code == 404


@pytest.mark.parametrize(
    "change", [{"content": "new"}, {"confidence": 1.1}, {"confidence": "high"}, {"tags": "a"}, {"metadata": {"n": 2**60}}]
)
async def test_an_edit_refuses_other_fields(ours: httpx.AsyncClient, door: Any, tea: str, change: dict[str, Any]) -> None:
    (identity,) = await memories(door)
    answer = await ours.patch(f"/v1/memories/{identity}", json=change)
    assert answer.status_code == 422
    assert next(iter(change)) in answer.json()["detail"]


async def test_containers_and_profile(ours: httpx.AsyncClient, tea: str) -> None:
    listed = (await ours.get("/v1/containers", params={"prefix": "team"})).json()
    assert listed["total"] == 1
    assert {"name", "description", "parent", "memory_count", "created_at"} <= listed["containers"][0].keys()
    assert (listed["containers"][0]["name"], listed["containers"][0]["parent"]) == ("team.notes", "team")
    profile = (await ours.get("/v1/profile/team.notes")).json()
    assert profile.keys() == {"container", "static_facts", "recent_context", "relevant_memories"}
    assert profile["static_facts"] == ["Alice likes tea."]


async def test_a_container_is_deleted_when_confirmed(ours: httpx.AsyncClient, tea: str) -> None:
    assert (await ours.delete("/v1/containers/team.notes")).status_code == 400
    answer = await ours.delete("/v1/containers/team.notes", params={"confirm": "true"})
    assert answer.json() == {"container": "team.notes", "deleted_count": 1, "success": True}
    assert (await ours.get(f"/v1/documents/{tea}")).status_code == 404


async def test_a_container_may_have_a_slash(ours: httpx.AsyncClient) -> None:
    await ours.post("/v1/documents", json={"content": "x", "container": "a/b c"})
    assert (await ours.get("/v1/profile/a%2Fb%20c")).json()["container"] == "a/b c"
    assert (await ours.delete("/v1/containers/a%2Fb%20c?confirm=true")).json()["deleted_count"] == 1


async def test_dead_letters_and_their_replay(ours: httpx.AsyncClient, door: Any) -> None:
    identity = (await ours.post("/v1/documents", json={"content": "x", "container": "c"})).json()["id"]
    await door.world.process(identity, failing={Stage.EXTRACT: "parser_timeout"})
    listed = (await ours.get("/v1/dead-letters", params={"code": "parser_timeout", "document_id": identity})).json()
    assert listed["total"] == 1
    letter = listed["dead_letters"][0]
    assert (letter["document_id"], letter["stage"], letter["code"], letter["replayed_at"]) == (identity, "extract", "parser_timeout", None)
    dry = (await ours.post("/v1/dead-letters/replay", json={"ids": [letter["id"]], "dry_run": True})).json()
    assert (dry["matched"], dry["replayed"], dry["dry_run"]) == (1, 0, True)
    assert (await ours.post("/v1/dead-letters/replay")).json()["replayed"] == 1
    assert (await ours.post("/v1/dead-letters/replay")).json()["replayed"] == 0
    found = (await ours.get(f"/v1/documents/{identity}")).json()
    assert found["status"] not in {"failed", "done"}


async def test_one_dead_letter_says_everything(ours: httpx.AsyncClient, door: Any) -> None:
    identity = (await ours.post("/v1/documents", json={"content": "x", "container": "c", "name": "x.txt"})).json()["id"]
    await door.world.process(identity, failing={Stage.EXTRACT: "parser_timeout"})
    (listed,) = (await ours.get("/v1/dead-letters")).json()["dead_letters"]
    shown = (await ours.get(f"/v1/dead-letters/{listed['id']}")).json()
    assert shown == listed
    assert (shown["tenant"], shown["document_id"], shown["document_name"]) == ("t1", identity, "x.txt")
    assert (shown["stage"], shown["code"], shown["message"]) == ("extract", "parser_timeout", "extract gave up")
    assert (shown["attempts"], shown["replays"], shown["trace_id"]) == (5, 0, None)
    assert shown["first_failed_at"] == shown["last_failed_at"] == "2026-01-01T00:00:00Z"
    assert (await ours.get("/v1/dead-letters/00000000-0000-0000-0000-000000000000")).json()["code"] == "dead_letter_not_found"
    assert (await ours.get("/v1/dead-letters/x")).json()["code"] == "invalid_field"


async def test_only_the_operator_names_another_tenant(ours: httpx.AsyncClient, door: Any) -> None:
    accepted = await door.world.post()
    await door.world.process(accepted.id, failing={Stage.EXTRACT: "parser_timeout"})
    assert (await ours.get("/v1/dead-letters", params={"tenant": "t2"})).status_code == 403
    assert (await ours.post("/v1/dead-letters/replay", json={"tenant": "t2"})).status_code == 403
    assert (await ours.get("/v1/dead-letters", params={"tenant": "t1"})).json()["total"] == 1
    async with door.client(token="operator-secret") as operator:
        assert (await operator.get("/v1/dead-letters", params={"tenant": "t1"})).json()["total"] == 1
        assert (await operator.get("/v1/dead-letters", params={"tenant": "t2"})).json()["total"] == 0
        assert (await operator.post("/v1/dead-letters/replay", json={"tenant": "t2"})).json()["matched"] == 0
        assert (await operator.post("/v1/dead-letters/replay", json={"tenant": "t1"})).json()["replayed"] == 1

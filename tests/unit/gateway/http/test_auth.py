from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from eunoe.v1 import admin_pb2
from eunoe_contracts.tenancy import Principal, Scope
from eunoe_gateway.config import AuthSettings
from eunoe_gateway.wiring import build_application
from google.protobuf.timestamp_pb2 import Timestamp

OPERATOR = Principal("default", frozenset(Scope), local_operator=True)
PROTECTED = [
    ("GET", "/v1/stats"),
    ("GET", "/v1/capabilities"),
    ("POST", "/v1/documents"),
    ("POST", "/v1/documents/upload"),
    ("POST", "/v1/documents/list"),
    ("POST", "/v1/uploads"),
    ("POST", "/v1/uploads/direct-1/commit"),
    ("GET", "/v1/documents/00000000-0000-0000-0000-000000000000"),
    ("GET", "/v1/documents/00000000-0000-0000-0000-000000000000/text"),
    ("GET", "/v1/documents/00000000-0000-0000-0000-000000000000/content"),
    ("GET", "/v1/documents/00000000-0000-0000-0000-000000000000/events"),
    ("POST", "/v1/documents/00000000-0000-0000-0000-000000000000/cancel"),
    ("DELETE", "/v1/documents/00000000-0000-0000-0000-000000000000"),
    ("GET", "/v1/memories/00000000-0000-0000-0000-000000000000"),
    ("PATCH", "/v1/memories/00000000-0000-0000-0000-000000000000"),
    ("DELETE", "/v1/memories/00000000-0000-0000-0000-000000000000"),
    ("GET", "/v1/memories/00000000-0000-0000-0000-000000000000/related"),
    ("POST", "/v1/search"),
    ("GET", "/v1/containers"),
    ("DELETE", "/v1/containers/c"),
    ("GET", "/v1/profile/c"),
    ("GET", "/v1/dead-letters"),
    ("GET", "/v1/dead-letters/00000000-0000-0000-0000-000000000000"),
    ("POST", "/v1/dead-letters/replay"),
]
NOTE = {"content": "x", "container": "c"}


def test_every_v1_route_is_listed_here(door: Any) -> None:
    found = {(method.upper(), path) for path, operations in door.app().openapi()["paths"].items() for method in operations}
    assert len([each for each in found if each[1].startswith("/v1/")]) == len(PROTECTED)


async def test_beyond_loopback_every_call_needs_a_token(door: Any) -> None:
    async with door.client(is_loopback=False) as client:
        for method, path in PROTECTED:
            answer = await client.request(method, path)
            assert answer.status_code == 401, path
            assert answer.json()["code"] == "unauthenticated"
            assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("path", ["/", "/health", "/live", "/ready", "/metrics", "/docs", "/openapi.json"])
async def test_what_says_nothing_of_anybody_is_open(door: Any, path: str) -> None:
    async with door.client(is_loopback=False) as client:
        assert (await client.get(path)).status_code == 200


async def test_with_a_configured_token_nobody_is_anonymous(door: Any) -> None:
    application = build_application(door.world.settings, AuthSettings(api_token="s3cret"), door.world.ports, probes={})
    async with door.client(application=application) as client:
        assert (await client.get("/v1/stats")).status_code == 401
        assert (await client.get("/v1/stats", headers={"authorization": "Bearer s3cret"})).status_code == 200


async def test_bad_tokens_are_all_answered_alike(door: Any) -> None:
    until = Timestamp()
    until.FromDatetime(door.world.clock.now() + timedelta(hours=1))
    expired = await door.token("search", expires_at=until)
    request = admin_pb2.CreateTokenRequest(tenant="t1", name="r", scopes=["search"])
    made = await door.application.create_token(OPERATOR, request)
    await door.application.revoke_token(OPERATOR, made.token.id)
    door.world.clock.advance(7200)
    given = [
        "", "Bearer", "Bearer ", "Bearer a b", "Bearer unknown", f"Bearer {expired}", f"Bearer {made.secret}", f"Basic {expired}",
        expired, "Token x", "Bearer é", "bearer  unknown", "Bearer " + "x" * 10_000, "Bearer\tunknown",
    ]  # fmt: skip
    answers = []
    async with door.client(is_loopback=False) as client:
        for each in given:
            headers = {"authorization": each.encode("latin-1")} if each else {}
            answer = await client.get("/v1/stats", headers=headers)
            answers.append((answer.status_code, answer.json()["code"], answer.json()["detail"]))
    assert set(answers) == {(401, "unauthenticated", "Missing or invalid API token")}


async def test_a_bad_token_is_refused_on_loopback_too(client: httpx.AsyncClient) -> None:
    for each in ("Bearer unknown", "Basic x", "nonsense"):
        assert (await client.get("/v1/stats", headers={"authorization": each})).status_code == 401


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
async def test_the_scheme_has_no_case(door: Any, scheme: str) -> None:
    async with door.client(is_loopback=False) as client:
        answer = await client.get("/v1/stats", headers={"authorization": f"{scheme} {await door.token('search')}"})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("scope", "method", "path", "allowed"),
    [
        ("search", "POST", "/v1/search", True),
        ("search", "POST", "/v1/documents", False),
        ("search", "DELETE", "/v1/containers/c?confirm=true", False),
        ("search", "GET", "/v1/dead-letters", False),
        ("ingest", "POST", "/v1/documents", True),
        ("ingest", "POST", "/v1/search", False),
        ("ingest", "GET", "/v1/dead-letters", False),
        ("ingest", "POST", "/v1/dead-letters/replay", False),
        ("admin", "POST", "/v1/search", True),
        ("admin", "POST", "/v1/documents", True),
        ("admin", "GET", "/v1/dead-letters", True),
    ],
)
async def test_scopes_are_kept(door: Any, scope: str, method: str, path: str, allowed: bool) -> None:
    bodies: dict[str, Any] = {"/v1/documents": NOTE, "/v1/search": {"query": "x"}}
    async with door.client(token=await door.token(scope), is_loopback=False) as client:
        answer = await client.request(method, path, json=bodies.get(path))
    if allowed:
        assert answer.is_success
    else:
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")


async def test_an_upload_without_the_scope_stores_nothing(door: Any) -> None:
    async with door.client(token=await door.token("search")) as client:
        answer = await client.post("/v1/documents/upload", files={"file": ("a.txt", b"text")}, data={"container": "c"})
    assert answer.status_code == 403
    assert await door.untouched()


async def test_no_body_or_header_names_the_tenant(door: Any) -> None:
    async with door.client(token=await door.token("admin", tenant="t2")) as client:
        body = {**NOTE, "tenant": "t1", "tenant_id": "t1"}
        answer = await client.post("/v1/documents?tenant=t1", json=body, headers={"x-tenant": "t1", "x-tenant-id": "t1"})
        assert answer.status_code == 202
        refused = await client.post("/v1/search", json={"query": "x", "tenant": "t1"})
        assert (refused.status_code, refused.json()["code"]) == (422, "unknown_field")
    assert await door.world.blobs.tenants() == ["t2"]
